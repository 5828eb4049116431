"""What Swift Testing reports about a run, from its stream of events."""
import dataclasses
import json
import re


@dataclasses.dataclass
class Result:
    """All that was heard of one test in one run."""
    id: str
    name: str
    place: str
    is_suite: bool
    started: float = None
    ended: float = None
    # Its cases together. Tests begin all at once, and stand in a queue then, so what lies between its begin and its end says nothing.
    seconds: float = 0.0
    skipped: str = None  # why
    issues: list = dataclasses.field(default_factory=list)

    @property
    def target(self):
        return self.id.split(".")[0]

    @property
    def is_over(self):
        return self.skipped is not None or self.ended is not None

    @property
    def filter(self):
        """What names this test alone."""
        path = self.id.split("/")
        return "^" + re.sub(r"[^\w/.]", ".", "/".join(path[:-1] if not self.is_suite and len(path) > 1 else path))


def skip_reason(messages):
    text = next((message["text"] for message in messages), "")
    match = re.search(r'skipped: "(.*)"\.?$', text)
    return match.group(1) if match else ""


def read(path):
    """The results by test, and whether the run came to its end."""
    results, has_ended, begun = {}, False, {}
    try:
        file = open(path, errors="replace")
    except OSError:
        return results, has_ended
    with file:
        for line in file:
            try:
                record = json.loads(line)
                payload = record["payload"]
            except (ValueError, KeyError):
                continue  # the last line of a run that died
            if record["kind"] == "test":
                place = payload["sourceLocation"]
                results[payload["id"]] = Result(
                    payload["id"], payload.get("displayName") or payload["name"], f'{place["fileID"].split("/")[-1]}:{place["line"]}',
                    payload["kind"] == "suite")
                continue
            kind, test = payload["kind"], results.get(payload.get("testID"))
            has_ended = has_ended or kind == "runEnded"
            if test is None:
                continue
            if kind == "testStarted":
                test.started = payload["instant"]["absolute"]
            elif kind == "testEnded":
                test.ended = payload["instant"]["absolute"]
            elif kind in ("testCaseStarted", "testCaseEnded"):
                case = (test.id, payload.get("_testCase", {}).get("id"))
                if kind == "testCaseStarted":
                    begun[case] = payload["instant"]["absolute"]
                elif case in begun:
                    test.seconds += payload["instant"]["absolute"] - begun.pop(case)
            elif kind == "testSkipped":
                test.skipped = skip_reason(payload.get("messages", []))
            elif kind == "issueRecorded" and not payload.get("issue", {}).get("isKnown"):
                text = "\n".join(message["text"] for message in payload.get("messages", []))
                # A test that fails may do so at several places.
                place = payload.get("issue", {}).get("sourceLocation") or {}
                test.issues.append(f'{place["fileID"].split("/")[-1]}:{place["line"]}: {text}' if place else text)
    return results, has_ended
