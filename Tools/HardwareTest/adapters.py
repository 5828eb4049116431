"""What this machine says about its kernel, BlueZ and adapters; each figure without privileges."""
import os
import re
import shutil
import subprocess

DAEMONS = ("/usr/libexec/bluetooth/bluetoothd", "/usr/lib/bluetooth/bluetoothd")


def said(*words):
    """What a command printed, or "" where it is not there or fails."""
    if shutil.which(words[0]) is None:
        return ""
    try:
        return subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=20, check=False).stdout
    except (OSError, subprocess.TimeoutExpired):
        return ""


def first(pattern, text):
    found = re.search(pattern, text)
    return found[1].strip() if found else None


def machine():
    daemon = next((path for path in DAEMONS if os.path.exists(path)), None)
    return {
        "kernel": os.uname().release,
        "bluez": (said(daemon, "--version").strip() if daemon else "") or None,
        "user": "root" if os.getuid() == 0 else f"uid {os.getuid()}",
    }


def adapter(name):
    """The chip (USB or PCI id), driver, and what the controller says about itself: HCI and LMP version, firmware's revision."""
    device = os.path.realpath(f"/sys/class/bluetooth/{name}/device")
    facts = {"name": name, "chip": None, "driver": None}
    if "/virtual/" in os.path.realpath(f"/sys/class/bluetooth/{name}"):
        facts["chip"] = "emulated"
    elif os.path.isdir(device):
        with open(os.path.join(device, "uevent")) as file:
            values = dict(line.strip().split("=", 1) for line in file if "=" in line)
        facts["driver"] = values.get("DRIVER")
        facts["chip"] = " ".join(f"{key} {values[key]}" for key in ("PRODUCT", "PCI_ID", "MODALIAS") if key in values) or None
    text = said("hciconfig", "-a", name)
    for key, pattern in (
            ("address", r"BD Address: (\S+)"), ("acl", r"ACL MTU: (\S+)"), ("hci_version", r"HCI Version: (.*?)  "),
            ("firmware", r"HCI Version:.*Revision: (\S+)"), ("lmp_version", r"LMP Version: (.*?)  "),
            ("lmp_subversion", r"LMP Version:.*Subversion: (\S+)"), ("manufacturer", r"Manufacturer: (.*)"),
            ("packet_types", r"Packet type: (.*)")):
        facts[key] = first(pattern, text)
    return facts
