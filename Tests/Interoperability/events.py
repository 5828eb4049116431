"""The results as Swift Testing's stream of events, which Tools/TestRun reads: one JSON object a line."""
import json


def write(path, tests) -> None:
    with open(path, "w") as file:
        def say(record, **payload):
            file.write(json.dumps({"kind": record, "version": 0, "payload": payload}) + "\n")
        for test in tests:
            code = test.function.__code__
            say("test", id=test.id, name=test.function.__name__, displayName=test.name, kind="function",
                sourceLocation={"fileID": "Interoperability/" + code.co_filename.rpartition("/")[2], "line": code.co_firstlineno})
            if test.outcome == "skipped":
                say("event", kind="testSkipped", testID=test.id, messages=[{"text": f'skipped: "{test.what}"'}])
                continue
            say("event", kind="testStarted", testID=test.id, instant={"absolute": test.started})
            if test.outcome in ("failed", "as marked"):
                say("event", kind="issueRecorded", testID=test.id, issue={"isKnown": test.outcome == "as marked"},
                    messages=[{"text": test.what}])
            say("event", kind="testEnded", testID=test.id, instant={"absolute": test.ended})
        say("event", kind="runEnded")
