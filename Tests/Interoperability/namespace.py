"""A network for each test, with nothing but lo: no other test hears what one sends to everybody."""
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
    library = ctypes.CDLL(None, use_errno=True)
    user, group = os.geteuid(), os.getegid()
    flags = CLONE_NEWNET | (0 if user == 0 else CLONE_NEWUSER)
    if library.unshare(flags) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"no network of its own: {os.strerror(number)}")
    if user != 0:
        for path, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
            with open(f"/proc/self/{path}", "w") as file:
                file.write(text)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        request = struct.pack("16sH14x", b"lo", 0)
        (now,) = struct.unpack("16xH14x", fcntl.ioctl(any_socket, SIOCGIFFLAGS, request))
        fcntl.ioctl(any_socket, SIOCSIFFLAGS, struct.pack("16sH14x", b"lo", now | IFF_UP | IFF_RUNNING))


def add_site(host: str) -> None:
    """Gives lo an address of a site, and with it all those of its network, as 127.0.0.1 brings those of 127/8."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        request = struct.pack("16sHH4s8x", b"lo:1", socket.AF_INET, 0, socket.inet_aton(host))
        fcntl.ioctl(any_socket, SIOCSIFADDR, request)
