#pragma once

// What can be seen of this machine's Bluetooth without any privilege and without waiting for a radio.

// Whether this kernel makes sockets of the kind: 0, or the errno of the attempt.
int piconet_probe_l2cap(void);
int piconet_probe_rfcomm(void);

// Whether anything serves SDP on this machine: 1, 0, or -1 if only a privileged process can tell.
int piconet_sdp_is_served(void);
