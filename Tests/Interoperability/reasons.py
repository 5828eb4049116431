"""Section 11 of Documentation/wire-format.md: why something ended."""
import enum


class Reason(enum.IntEnum):
    LEFT = 0
    DECLINED = 1
    CANCELLED = 2
    TIMED_OUT = 3
    FULL = 4
    VERSION = 5
    IDENTITY = 6
    CODE_MISMATCH = 7
    WRONG_SESSION = 8
    DUPLICATE_LINK = 9
    PROTOCOL_BROKEN = 10
    LIMIT_EXCEEDED = 11
    SHUTTING_DOWN = 12
    REMOVED = 13
    LINK_FAILED = 14
    IDLE = 15
    NO_SUCH_ASSOCIATION = 16
    SELF_CONNECTION = 18
    IN_PROGRESS = 20
    UNREACHABLE = 21
    NOT_AVAILABLE = 23
    CODE_NEEDED = 24
    WRONG_CODE = 25
    NAME_REFUSED = 32
    TOO_LARGE = 33
    DISK_FULL = 34
    EXISTS = 36
    DIGEST_MISMATCH = 37
    SIZE_MISMATCH = 38
    NOT_WANTED = 42
