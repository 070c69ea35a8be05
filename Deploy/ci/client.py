# SPDX-License-Identifier: Apache-2.0
"""Uses a generated client against a gateway in development. Run by client.sh."""

import sys
import time
import uuid

from rouse_client import models
from rouse_client.api.apps import get_app, list_apps, pause_app, resume_app
from rouse_client.api.channels import (
    create_channel, delete_channel, get_channel, list_channels, send_broadcast)
from rouse_client.api.devices import (
    confirm_launches, forget_device, forget_device_by_body, get_device, list_user_devices,
    look_up_device, put_device_registration, put_registration, register_device,
    report_device_signals, report_signals, unregister_user, unregister_user_device)
from rouse_client.api.events import get_feedback, list_webhooks
from rouse_client.api.operation import get_health, get_history, get_readiness, get_stats
from rouse_client.api.wakes import (
    cancel_wake, create_multicast, create_wake, create_wakes, get_wake, list_wakes, look_up_wakes,
    validate)
from rouse_client.client import Client
from rouse_client.types import UNSET

APP = "com.example.demo"
TOKEN = "00fc13adff785122b4ad28809a3420982341241421348097878e577c991de8f0"

client = Client(base_url=sys.argv[1])


def check(what, found):
    if not found:
        raise SystemExit(f"client.py: {what}")
    print(f"ok: {what}")


def request(token=TOKEN, **more):
    return models.WakeRequest(
        kind=models.WakeRequestKind.BACKGROUND, device_token=token, app=APP, ttl_seconds=3600,
        payload=models.WakeRequestPayload.from_dict({"aps": {"content-available": 1}, "v": 7}),
        **more)


sent = create_wake.sync(client=client, body=request(), wait=models.CreateWakeWait.OUTCOME)
check("a wake is sent", sent.state == models.WakeState.SENT)
check("and can be asked for", get_wake.sync(client=client, id=sent.id).id == sent.id)

key = str(uuid.uuid4())
first = create_wake.sync(client=client, body=request(), idempotency_key=key)
again = create_wake.sync(client=client, body=request(), idempotency_key=key)
check("a second one waits", first.decision.type_ == models.DecisionType.DEFERRED)
check("a repetition is the same wake", first.id == again.id)
device = get_device.sync(client=client, token=TOKEN)
check("the device says what waits", len(device.queues) == 1)
looked = look_up_device.sync(client=client, body=models.DeviceLookup(
    device_token=TOKEN, environment=models.DeviceLookupEnvironment.SANDBOX))
check("and does so without a token in its address", looked.queues[0].device == device.queues[0].device)
check("its wakes are found so too", len(look_up_wakes.sync(
    client=client, body=models.WakeLookup(device_token=TOKEN)).wakes) == 2)
check("a list is narrowed by its environment alone", list_wakes.sync(
    client=client, environment=models.ListWakesEnvironment.PRODUCTION).wakes == [])
check("a wake is cancelled", cancel_wake.sync_detailed(client=client, id=first.id).status_code == 200)

refused = create_wake.sync(client=client, body=models.WakeRequest(
    kind=models.WakeRequestKind.BACKGROUND, device_token=TOKEN, app=APP,
    payload=models.WakeRequestPayload.from_dict({"aps": {"alert": "x"}})))
check("a bad payload is a problem", refused.code == models.ProblemCode.INVALID_WAKE)
check("with its rules", {found.rule for found in refused.diagnostics} >= {"BG001", "BG002"})

batch = create_wakes.sync(client=client, body=[request("aa" * 32), request("bb" * 32)])
check("a batch is accepted", batch.accepted == 2)
many = create_multicast.sync(client=client, body=models.MulticastRequest(
    kind=models.MulticastRequestKind.BACKGROUND, device_tokens=["cc" * 32, "dd" * 32], app=APP,
    payload=models.MulticastRequestPayload.from_dict({"aps": {"content-available": 1}, "v": 7})))
check("a multicast is accepted", many.accepted == 2)
check("the list has all", len(list_wakes.sync(client=client).wakes) >= 6)

found = validate.sync(client=client, body=models.ValidationRequest(
    payload_text='{"aps":{"content_available":1}}'))
check("a payload is validated", any(item.rule == "G012" for item in found.diagnostics))
check("a receipt counts", confirm_launches.sync_detailed(
    client=client, body=models.Receipt(id=sent.id)).status_code == 200)
check("a token is registered", register_device.sync_detailed(
    client=client, token=TOKEN, body=models.Registration(
        app=APP, kind=models.RegistrationKind.BACKGROUND)).status_code == 200)
check("and once more, by PUT", put_device_registration.sync_detailed(
    client=client, body=models.DeviceRegistration(device_token=TOKEN, app=APP)).status_code == 200)
check("no webhooks are configured", list_webhooks.sync(client=client).endpoints == [])
check("and is a user's", register_device.sync_detailed(
    client=client, token=TOKEN, body=models.Registration(
        app=APP, kind=models.RegistrationKind.BACKGROUND, user="u-1")).status_code == 200)
listed = list_user_devices.sync(client=client, user="u-1").devices
check("whose devices are listed", len(listed) == 1)
check("and woken", create_wake.sync(client=client, body=request(UNSET, user="u-1")).accepted == 1)
check("and are not any more, one by one", unregister_user_device.sync(
    client=client, user="u-1", token=TOKEN).removed == 1)
put_registration.sync(client=client, token=TOKEN, body=models.Registration(app=APP, user="u-1"))
check("and all at once", unregister_user.sync(client=client, user="u-1").removed == 1)
check("a signal is reported", report_signals.sync_detailed(
    client=client, token=TOKEN, body=models.Signals(low_power_mode=True)).status_code == 200)
check("and one more, by its body", report_device_signals.sync_detailed(
    client=client, body=models.DeviceSignals(
        device_token=TOKEN, force_quit=True)).status_code == 200)
kept = look_up_device.sync(client=client, body=models.DeviceLookup(device_token=TOKEN)).queues[0]
check("which keeps the next wake back", "force-quit" in {
    rule.reason.value for rule in kept.budget.rules})
check("a device is forgotten", forget_device.sync_detailed(
    client=client, token="aa" * 32).status_code == 200)
check("and another, by its body", forget_device_by_body.sync_detailed(
    client=client, body=models.DeviceForget(device_token="bb" * 32)).status_code == 200)
check("nothing is dead", get_feedback.sync(client=client).entries == [])

check("an app is paused", pause_app.sync_detailed(client=client, topic=APP).status_code == 200)
check("and goes on", resume_app.sync_detailed(client=client, topic=APP).status_code == 200)
check("it sends", {queue.state for queue in get_app.sync(client=client, topic=APP).queues} == {
    models.QueueState.SENDING})
check("apps are listed", [app.app for app in list_apps.sync(client=client).apps] == [APP])
check("it is healthy", get_health.sync(client=client).status == models.HealthStatus.ALIVE)
check("and ready", get_readiness.sync(client=client).status == models.ReadinessStatus.READY)
check("figures are there", get_stats.sync(client=client).accepted >= 6)
check("and those of the last hour", get_history.sync(client=client).points)

channel = create_channel.sync(client=client, body=models.ChannelCreation(
    app=APP, storage=models.ChannelCreationStorage.LATEST)).channel
check("a channel is made", get_channel.sync(
    client=client, channel=channel, app=APP).storage == models.ChannelStorage.LATEST)
check("and listed", list_channels.sync(client=client, app=APP).channels == [channel])
check("a broadcast is sent", send_broadcast.sync(
    client=client, channel=channel, body=models.BroadcastRequest(
        app=APP, ttl_seconds=60, payload=models.BroadcastRequestPayload.from_dict({"aps": {
            "timestamp": int(time.time()), "event": "update", "content-state": {"score": 1}}}))
).channel == channel)
check("a channel is deleted", delete_channel.sync_detailed(
    client=client, channel=channel, app=APP).status_code == 200)
