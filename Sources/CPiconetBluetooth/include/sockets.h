#ifndef CPICONET_BLUETOOTH_SOCKETS_H
#define CPICONET_BLUETOOTH_SOCKETS_H

// Whether this kernel makes Bluetooth sockets: 0, or the errno of the attempt, such as EAFNOSUPPORT.
int piconet_bluetooth_probe(void);

#endif
