// SPDX-License-Identifier: Apache-2.0

import com.eatthepath.pushy.apns.ApnsClient;
import com.eatthepath.pushy.apns.ApnsClientBuilder;
import com.eatthepath.pushy.apns.DeliveryPriority;
import com.eatthepath.pushy.apns.PushType;
import com.eatthepath.pushy.apns.auth.ApnsSigningKey;
import com.eatthepath.pushy.apns.util.SimpleApnsPushNotification;
import java.io.File;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** The party clients/pushy.sh: pushy on netty, which negotiates nothing and begins with HTTP/2. */
public final class Pushy {
    private static final String GOOD = "{\"aps\":{\"content-available\":1}}";

    private static String env(String name) {
        return System.getenv("INTEROP_" + name);
    }

    private static ApnsClient client(String key) throws Exception {
        return new ApnsClientBuilder().setApnsServer("localhost", Integer.parseInt(env("PORT")))
                .setTrustedServerCertificateChain(new File(env("CA")))
                .setSigningKey(ApnsSigningKey.loadFromPkcs8File(new File(env(key)), env("TEAM_ID"), env("KEY_ID")))
                .build();
    }

    private static CompletableFuture<String> push(ApnsClient client, String token, String body) {
        return client.sendNotification(new SimpleApnsPushNotification(token, "com.example.app", body,
                Instant.now().plusSeconds(60), DeliveryPriority.CONSERVE_POWER, PushType.BACKGROUND))
                .thenApply(answer -> answer.isAccepted() ? "accepted" : answer.getRejectionReason());
    }

    private static void check(String name, CompletableFuture<String> answer, String wanted) throws Exception {
        String found = answer.get(20, TimeUnit.SECONDS);
        if (!found.equals(wanted)) {
            System.err.println(name + ": " + found + " instead of " + wanted);
            System.exit(1);
        }
    }

    public static void main(String[] arguments) throws Exception {
        ApnsClient good = client("KEY");
        check("200", push(good, "abcdef", GOOD), "accepted");
        List<CompletableFuture<String>> many = new ArrayList<>();
        for (int n = 0; n < 500; n++) {
            many.add(push(good, String.format("%064x", n), GOOD));
        }
        for (CompletableFuture<String> answer : many) {
            check("500 at once", answer, "accepted");
        }
        check("400", push(good, "no-token", GOOD), "BadDeviceToken");
        check("413", push(good, "abcdef", "x".repeat(5000)), "PayloadTooLarge");
        check("403", push(client("OTHER_KEY"), "abcdef", GOOD), "InvalidProviderToken");
        good.close().get(20, TimeUnit.SECONDS);
        System.out.println("pushy on Java " + Runtime.version() + ": 200, 500 at once, 400, 413, 403");
        System.exit(0);
    }
}
