#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <systemd/sd-bus.h>

#include "baseline.h"

static const char service[] = "org.bluez.obex";

static int check(int result, const char *what, const sd_bus_error *error) {
  if (result >= 0) return result;
  if (error != NULL && error->message != NULL) fprintf(stderr, "%s: %s\n", error->name, error->message);
  errno = -result;
  fail(what);
}

// "complete", "error" or whatever else obexd says about the transfer; "gone" once it no longer knows it.
static const char *status_of(sd_bus *bus, const char *transfer, char *status, size_t room) {
  sd_bus_error error = SD_BUS_ERROR_NULL;
  char *text = NULL;
  int result = sd_bus_get_property_string(bus, service, transfer, "org.bluez.obex.Transfer1", "Status", &error, &text);
  snprintf(status, room, "%s", result >= 0 ? text : "gone");
  sd_bus_error_free(&error);
  free(text);
  return status;
}

// Waits for one signal at a time: the first that ends the transfer counts, and obexd sends that before it forgets the
// transfer.
static int on_change(sd_bus_message *message, void *context, sd_bus_error *error) {
  (void)error;
  const char *interface, *key, *value;
  if (sd_bus_message_read(message, "s", &interface) < 0 || strcmp(interface, "org.bluez.obex.Transfer1") != 0) return 0;
  if (sd_bus_message_enter_container(message, 'a', "{sv}") < 0) return 0;
  while (sd_bus_message_enter_container(message, 'e', "sv") > 0) {
    if (sd_bus_message_read(message, "s", &key) < 0) return 0;
    if (strcmp(key, "Status") == 0 && sd_bus_message_read(message, "v", "s", &value) >= 0)
      snprintf(context, 32, "%s", value);
    else
      sd_bus_message_skip(message, "v");
    sd_bus_message_exit_container(message);
  }
  return 0;
}

int push_by_obexd(const char *local, const char *remote, const char *file) {
  sd_bus *bus = NULL;
  sd_bus_error error = SD_BUS_ERROR_NULL;
  sd_bus_message *reply = NULL;
  const char *session, *transfer;
  char status[32] = "";
  check(sd_bus_open_user(&bus), "session bus", NULL);
  check(sd_bus_add_match(bus, NULL, "type='signal',sender='org.bluez.obex',member='PropertiesChanged'", on_change, status),
        "match", NULL);
  check(sd_bus_call_method(bus, service, "/org/bluez/obex", "org.bluez.obex.Client1", "CreateSession", &error, &reply,
                           "sa{sv}", remote, 2, "Target", "s", "opp", "Source", "s", local),
        "CreateSession", &error);
  check(sd_bus_message_read(reply, "o", &session), "CreateSession", NULL);
  double start = seconds();
  sd_bus_message *started = NULL;
  check(sd_bus_call_method(bus, service, session, "org.bluez.obex.ObjectPush1", "SendFile", &error, &started, "s", file),
        "SendFile", &error);
  check(sd_bus_message_read(started, "o", &transfer), "SendFile", NULL);
  if (strcmp(status_of(bus, transfer, status, sizeof status), "gone") == 0) status[0] = 0;
  while (strcmp(status, "complete") != 0) {
    if (strcmp(status, "error") == 0 || seconds() - start > 120) {
      fprintf(stderr, "the transfer ended with: %s\n", status);
      return 1;
    }
    check(sd_bus_process(bus, NULL), "process", NULL);
    check(sd_bus_wait(bus, 100000), "wait", NULL);
  }
  printf("{\"seconds\":%.6f}\n", seconds() - start);
  sd_bus_message_unref(started);
  sd_bus_message_unref(reply);
  sd_bus_flush_close_unref(bus);
  return 0;
}
