"""Runs a command where nothing can be reached, and tells whom it tried to reach. Linux, as root; started by `unshare`.

    unshare --net --mount python isolation.py REPORT COMMAND...

In the new network namespace every address in the world leads to the loopback device, where packets are looked at:
whatever is not sent to the machine itself would have gone out, native code's included. Names are asked of an address
outside, so a look-up is seen as well. REPORT becomes a JSON list of what was seen.
"""

from __future__ import annotations

import fcntl
import json
import shutil
import socket
import struct
import subprocess
import sys
import threading
from ipaddress import ip_address
from pathlib import Path

NAMESERVER = "192.0.2.53"  # of a network that stands for examples, and is nobody's
SIOCSIFFLAGS, IFF_UP = 0x8914, 0x1
ALL_PROTOCOLS = 0x0003
OUTGOING = 4  # the kind of a packet that is on its way out, as packet sockets tell it
RTM_NEWROUTE, REQUEST_CREATE_ACK = 24, 0x1 | 0x400 | 0x4
LOCAL_TABLE, BOOT, HOST_SCOPE, LOCAL_ROUTE, OUTPUT_DEVICE = 255, 3, 254, 2, 4


def possible() -> bool:
    """Whether this machine lets us: Linux, root, and util-linux."""
    if not sys.platform.startswith("linux") or shutil.which("unshare") is None:
        return False
    return subprocess.run(["unshare", "--net", "--mount", "true"], capture_output=True).returncode == 0


def command(report: Path, argv: list[str]) -> list[str]:
    return ["unshare", "--net", "--mount", sys.executable, __file__, str(report), *argv]


def lead_everything_here() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        fcntl.ioctl(control, SIOCSIFFLAGS, struct.pack("16sH14x", b"lo", IFF_UP))
    for family in (socket.AF_INET, socket.AF_INET6):
        route = struct.pack("=8BI", family, 0, 0, 0, LOCAL_TABLE, BOOT, HOST_SCOPE, LOCAL_ROUTE, 0)
        route += struct.pack("=HHI", 8, OUTPUT_DEVICE, socket.if_nametoindex("lo"))
        with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE) as netlink:
            netlink.send(struct.pack("=IHHII", 16 + len(route), RTM_NEWROUTE, REQUEST_CREATE_ACK, 1, 0) + route)
            error = struct.unpack_from("=i", netlink.recv(4096), 16)[0]
        if error and family == socket.AF_INET:  # a kernel without IPv6 has no route for it, and reaches nobody by it
            raise OSError(-error, "no route can be laid")


def ask_names_outside(folder: Path) -> None:
    for name, text in (("resolv.conf", f"nameserver {NAMESERVER}\n"), ("nsswitch.conf", "hosts: files dns\n")):
        if (Path("/etc") / name).exists():
            (folder / name).write_text(text)
            subprocess.run(["mount", "--bind", folder / name, Path("/etc") / name], check=True)


def told(packet: bytes) -> str | None:
    """What a packet was after, where it was after something outside."""
    if packet[0] >> 4 == 4:
        to, kind, rest = ip_address(packet[16:20]), packet[9], packet[(packet[0] & 15) * 4 :]
    else:
        to, kind, rest = ip_address(packet[24:40]), packet[6], packet[40:]
    if to.is_loopback or to.is_multicast or kind not in (socket.IPPROTO_TCP, socket.IPPROTO_UDP):
        return None
    port = struct.unpack_from("!H", rest, 2)[0]
    if str(to) == NAMESERVER and port == 53 and kind == socket.IPPROTO_UDP:
        labels, place = [], 20
        while rest[place]:
            labels.append(rest[place + 1 : place + 1 + rest[place]].decode("ascii", "replace"))
            place += 1 + rest[place]
        return f"looked up {'.'.join(labels)}"
    return f"sent to {to} port {port}"


def main(report: Path, argv: list[str]) -> int:
    lead_everything_here()
    ask_names_outside(report.parent)
    seen: dict[str, None] = {}
    listener = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(ALL_PROTOCOLS))
    listener.bind(("lo", ALL_PROTOCOLS))

    def listen() -> None:
        while True:
            packet, origin = listener.recvfrom(65_536)
            if origin[2] == OUTGOING and packet and (what := told(packet)):
                seen[what] = None

    threading.Thread(target=listen, daemon=True).start()
    status = subprocess.run(argv).returncode
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as last:  # seen after all that was sent before it
        last.sendto(b"", ("192.0.2.99", 9))
    while "sent to 192.0.2.99 port 9" not in seen:
        threading.Event().wait(0.01)
    report.write_text(json.dumps([what for what in seen if "192.0.2.99" not in what]))
    return status


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2:]))
