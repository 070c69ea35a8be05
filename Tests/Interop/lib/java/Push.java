// SPDX-License-Identifier: Apache-2.0

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.Signature;
import java.security.cert.CertificateFactory;
import java.security.spec.PKCS8EncodedKeySpec;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/**
 * The party clients/java.sh: the HttpClient of Java's own library, with provider tokens signed by
 * its own algorithms, in both forms of a signature.
 */
public final class Push {
    private static final String GOOD = "{\"aps\":{\"content-available\":1}}";

    private static String env(String name) {
        return System.getenv("INTEROP_" + name);
    }

    private static HttpClient client() throws Exception {
        KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
        store.load(null);
        try (var file = Files.newInputStream(Path.of(env("CA")))) {
            store.setCertificateEntry("ca", CertificateFactory.getInstance("X.509").generateCertificate(file));
        }
        TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trust.init(store);
        SSLContext tls = SSLContext.getInstance("TLS");
        tls.init(null, trust.getTrustManagers(), null);
        return HttpClient.newBuilder().version(HttpClient.Version.HTTP_2).sslContext(tls)
                .connectTimeout(Duration.ofSeconds(10)).build();
    }

    private static String token(String path, String algorithm) throws Exception {
        String pem = Files.readString(Path.of(path)).replaceAll("-----[^-]*-----|\\s", "");
        PrivateKey key = KeyFactory.getInstance("EC")
                .generatePrivate(new PKCS8EncodedKeySpec(Base64.getDecoder().decode(pem)));
        Base64.Encoder encoder = Base64.getUrlEncoder().withoutPadding();
        String header = "{\"alg\":\"ES256\",\"kid\":\"" + env("KEY_ID") + "\"}";
        String claims = "{\"iss\":\"" + env("TEAM_ID") + "\",\"iat\":" + Instant.now().getEpochSecond() + "}";
        String signed = encoder.encodeToString(header.getBytes()) + "." + encoder.encodeToString(claims.getBytes());
        Signature signature = Signature.getInstance(algorithm);
        signature.initSign(key);
        signature.update(signed.getBytes());
        return signed + "." + encoder.encodeToString(signature.sign());
    }

    private static CompletableFuture<String> push(HttpClient client, String token, String device, String body) {
        HttpRequest request = HttpRequest.newBuilder()
                .uri(URI.create("https://localhost:" + env("PORT") + "/3/device/" + device))
                .timeout(Duration.ofSeconds(20)).header("authorization", "bearer " + token)
                .header("apns-topic", "com.example.app").header("apns-push-type", "background")
                .header("apns-priority", "5").POST(HttpRequest.BodyPublishers.ofString(body)).build();
        return client.sendAsync(request, HttpResponse.BodyHandlers.ofString())
                .thenApply(answer -> answer.version() + " " + answer.statusCode() + " " + answer.body());
    }

    private static void check(String name, String found, String wanted) {
        if (!found.equals(wanted)) {
            System.err.println(name + ": " + found + " instead of " + wanted);
            System.exit(1);
        }
    }

    public static void main(String[] arguments) throws Exception {
        String token = token(env("KEY"), "SHA256withECDSAinP1363Format");
        HttpClient one = client();
        check("200", push(one, token, "abcdef", GOOD).get(), "HTTP_2 200 ");
        List<CompletableFuture<String>> many = new ArrayList<>();
        for (int n = 0; n < 500; n++) {
            many.add(push(one, token, String.format("%064x", n), GOOD));
        }
        Set<String> answers = new HashSet<>();
        for (CompletableFuture<String> answer : many) {
            answers.add(answer.get());
        }
        check("500 at once", String.join("|", answers), "HTTP_2 200 ");
        check("400", push(one, token, "no-token", GOOD).get(), "HTTP_2 400 {\"reason\":\"BadDeviceToken\"}");
        check("413", push(one, token, "abcdef", "x".repeat(5000)).get(),
                "HTTP_2 413 {\"reason\":\"PayloadTooLarge\"}");
        check("DER", push(client(), token(env("KEY"), "SHA256withECDSA"), "abcdef", GOOD).get(), "HTTP_2 200 ");
        check("403", push(client(), token(env("OTHER_KEY"), "SHA256withECDSA"), "abcdef", GOOD).get(),
                "HTTP_2 403 {\"reason\":\"InvalidProviderToken\"}");
        System.out.println("Java " + Runtime.version() + ": 200, 500 at once, 400, 413, DER, 403");
        System.exit(0);
    }
}
