// SPDX-License-Identifier: Apache-2.0

import com.eatthepath.pushy.apns.server.MockApnsServer;
import com.eatthepath.pushy.apns.server.MockApnsServerBuilder;
import com.eatthepath.pushy.apns.server.PushNotificationHandler;
import com.eatthepath.pushy.apns.server.RejectedNotificationException;
import com.eatthepath.pushy.apns.server.RejectionReason;
import com.eatthepath.pushy.apns.server.UnregisteredDeviceTokenException;
import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http2.Http2Headers;
import java.io.File;
import java.io.FileWriter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Instant;
import java.util.concurrent.TimeUnit;

/** The server of the party servers/pushy.py: pushy's mock of APNs, on netty. */
public final class PushyServer {
    private static String env(String name) {
        return System.getenv("INTEROP_" + name);
    }

    private static synchronized void note(FileWriter log, CharSequence id) {
        try {
            log.write(id + "\n");
            log.flush();
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
    }

    public static void main(String[] arguments) throws Exception {
        FileWriter log = new FileWriter(env("LOG"), true);
        PushNotificationHandler handler = new PushNotificationHandler() {
            @Override
            public void handlePushNotification(Http2Headers headers, ByteBuf payload)
                    throws RejectedNotificationException {
                String path = headers.path().toString();
                note(log, headers.get("apns-id"));
                if (path.contains("/bad0")) {
                    throw new RejectedNotificationException(RejectionReason.BAD_DEVICE_TOKEN);
                }
                if (path.contains("/dead")) {
                    throw new UnregisteredDeviceTokenException(Instant.ofEpochSecond(1_700_000_000));
                }
            }
        };
        MockApnsServer server = new MockApnsServerBuilder()
                .setServerCredentials(new File(env("SERVER_CERTIFICATE")), new File(env("SERVER_KEY")), null)
                .setUseAlpn(true).setHandlerFactory(session -> handler).build();
        server.start(Integer.parseInt(env("SERVER_PORT"))).get(10, TimeUnit.SECONDS);
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            try {
                server.shutdown().get(5, TimeUnit.SECONDS);
            } catch (Exception error) {
                System.err.println(error);
            }
        }));
        Thread.currentThread().join();
    }
}
