"""A network for each test, with nothing but lo: no other test hears what one sends to everybody."""
import contextlib
import ctypes
import fcntl
import os
import socket
import struct

CLONE_NEWUSER, CLONE_NEWNET = 0x10000000, 0x40000000
SIOCGIFFLAGS, SIOCSIFFLAGS, SIOCSIFADDR = 0x8913, 0x8914, 0x8916
IFF_UP, IFF_RUNNING = 0x1, 0x40


def enter() -> None:
    """Moves this process into a network of its own.
    - Raises: `OSError` if the machine does not let us."""
    user, group = os.geteuid(), os.getegid()
    call("unshare", CLONE_NEWNET | (0 if user == 0 else CLONE_NEWUSER))
    if user != 0:
        for path, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
            with open(f"/proc/self/{path}", "w") as file:
                file.write(text)
    raise_lo()


def call(function: str, *numbers: int) -> None:
    library = ctypes.CDLL(None, use_errno=True)
    if getattr(library, function)(*numbers) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"no network of its own: {function}: {os.strerror(number)}")


def raise_lo() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        request = struct.pack("16sH14x", b"lo", 0)
        (now,) = struct.unpack("16xH14x", fcntl.ioctl(any_socket, SIOCGIFFLAGS, request))
        fcntl.ioctl(any_socket, SIOCSIFFLAGS, struct.pack("16sH14x", b"lo", now | IFF_UP | IFF_RUNNING))


def another() -> int:
    """A further network with nothing but a lo of its own, as a descriptor for `within`: no way leads there from this one."""
    here = current()
    call("unshare", CLONE_NEWNET)
    try:
        raise_lo()
        return current()
    finally:
        call("setns", here, CLONE_NEWNET)
        os.close(here)


def current() -> int:
    return os.open("/proc/thread-self/ns/net", os.O_RDONLY)


@contextlib.contextmanager
def within(network: int):
    """Sockets that are made here, and programs that are started, are in that network and stay there."""
    here = current()
    call("setns", network, CLONE_NEWNET)
    try:
        yield
    finally:
        call("setns", here, CLONE_NEWNET)
        os.close(here)


def add_site(host: str) -> None:
    """Gives lo an address of a site, and with it all those of its network, as 127.0.0.1 brings those of 127/8."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        request = struct.pack("16sHH4s8x", b"lo:1", socket.AF_INET, 0, socket.inet_aton(host))
        fcntl.ioctl(any_socket, SIOCSIFADDR, request)
