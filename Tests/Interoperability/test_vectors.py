"""The document's own examples."""
import document
import frames
import hello
import records
import short_code
import typed_code
from fields import FormatError, Incomplete
from frames import BY_TYPE, Hello, Unknown


def test_golden():
    """every golden vector is read whole, under its name, and written back the same"""
    vectors = document.vectors("golden")
    assert len(vectors) > 50, len(vectors)
    for name, data in vectors.items():
        frame, count = frames.decode(data)
        assert count == len(data), name
        assert frame.encode() == data, (name, frame)
        kind = type(frame).__name__
        wanted = "Unknown" if isinstance(frame, Unknown) else kind[0].lower() + kind[1:]
        assert name.startswith(("unknown", "hello") if wanted in ("Unknown", "hello") else wanted), (name, frame)


def test_every_frame_has_a_vector():
    """each frame that we know has a golden vector"""
    shown = {data[0] for data in document.vectors("golden").values()}
    assert not set(BY_TYPE) - shown, sorted(set(BY_TYPE) - shown)


def test_in_pieces():
    """a golden vector that is cut anywhere waits for more"""
    for name, data in document.vectors("golden").items():
        for count in range(len(data)):
            try:
                frames.decode(data[:count])
            except Incomplete:
                continue
            raise AssertionError(f"{name}: {count} of {len(data)} bytes are taken for a frame")


def test_refused():
    """each of the refused ones is refused"""
    vectors = document.vectors("refused")
    assert len(vectors) > 30, len(vectors)
    for name, data in vectors.items():
        try:
            found = frames.decode(data, frame_limit=16_381)
        except FormatError:
            continue
        except Incomplete:
            found = "more is waited for"
        raise AssertionError(f"{name}: {found}")


def test_code():
    """the short code and its commitment follow from nonces and exported key"""
    for block in document.blocks("golden-code"):
        given = {name: bytes.fromhex(value) for name, value in block.items() if name != "code"}
        assert short_code.commitment(given["inviter's nonce"]) == given["commitment"]
        assert short_code.code(given["exported key"], given["inviter's fingerprint"], given["invited side's fingerprint"],
                               given["inviter's nonce"], given["invited side's nonce"]) == block["code"]


def test_typed_code():
    """every value of the proof of a typed code follows from the code, the ids, the exported key and the secrets; RFC 9382's from its own"""
    of_rfc = typed_code.spake2(b"server", b"client", 0x2EE57912099D31560B3A44B1184B9B4866E904C49D12AC5042C97DCA461B1A5F,
                               0x43DD0FD7215BDCB482879FCA3220C6A968E66D70B1356CAC18BB26C84A78D729,
                               0xDCB60106F276B02606D8EF0A328C02E4B629F84F89786AF5BEFB0BC75B6E66BE, b"")
    assert of_rfc["cA"].hex() == "58ad4aa88e0b60d5061eb6b5dd93e80d9c4f00d127c65b3b35b1b5281fee38f0", of_rfc["cA"].hex()
    (block,) = document.blocks("golden-typed-code")
    given = {name: bytes.fromhex(value) for name, value in block.items() if name != "code"}
    inviter, invited = given["inviter's id"], given["invited's id"]
    w = typed_code.factor(block["code"], invited)
    assert w == int.from_bytes(given["w"], "big"), hex(w)
    x, y = (int.from_bytes(given[name], "big") for name in "xy")
    for name, value in typed_code.proof(w, x, y, given["exported key"], inviter, invited).items():
        assert value == given[name], (name, value.hex())


def test_hello_parameters():
    """a hello's parameters mean what the table says"""
    frame, _ = frames.decode(document.vectors("golden")["hello-dialler"])
    assert isinstance(frame, Hello)
    greeting = hello.Greeting(frame)
    assert (greeting.session_id, greeting.name, greeting.incarnation) == ("photos", "Zoë", 0x0123456789ABCDEF), greeting
    assert greeting.held is not None and len(greeting.held[0]) == 16, greeting.held
    assert greeting.number(hello.SILENCE) == 20_000


def test_compact_header():
    """a record of 75 bytes has the compact header that the document shows, and comes back whole"""
    record = bytes.fromhex("170303004b") + bytes(75)
    short = records.compacted(record)
    assert short[:2] == bytes.fromhex("804b") and len(short) == 77, short[:4]
    reader = records.Records()
    assert b"".join(reader.take(short[place:place + 1], True) for place in range(len(short))) == record
    try:
        records.Records().take(short, False)
    except records.RecordError:
        return
    raise AssertionError("a compact header was taken that was not agreed to")
