// Loads a URL over and over with libcurl's multi interface. Ends at the first failure.
//
// usage: curl URL REQUESTS WIDTH [http2] [file]
//
// "http2" loads WIDTH at a time over one connection, and needs TLS: with prior knowledge, libcurl 7.88 fails at the second request of a
// connection. "file" writes the content to a temporary file. SSL_CERT_FILE names the trusted certificates; libcurl itself ignores it.
#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned long long received;

static size_t take(char *data, size_t size, size_t count, void *file) {
    received += size * count;
    return file ? fwrite(data, size, count, file) : size * count;
}

static CURL *request(const char *url, int http2, FILE *file) {
    CURL *easy = curl_easy_init();
    curl_easy_setopt(easy, CURLOPT_URL, url);
    curl_easy_setopt(easy, CURLOPT_FAILONERROR, 1L);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, take);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, file);
    if (getenv("SSL_CERT_FILE")) curl_easy_setopt(easy, CURLOPT_CAINFO, getenv("SSL_CERT_FILE"));
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, http2 ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1);
    // Makes a request wait for the first connection. Otherwise curl would open another connection.
    curl_easy_setopt(easy, CURLOPT_PIPEWAIT, (long)http2);
    return easy;
}

int main(int count, char **words) {
    if (count < 4) return fprintf(stderr, "usage: curl URL REQUESTS WIDTH [http2] [file]\n"), 2;
    long requests = atol(words[2]), width = atol(words[3]), started = 0, done = 0;
    int http2 = 0;
    FILE *file = NULL;
    for (int i = 4; i < count; i++) {
        if (!strcmp(words[i], "http2")) http2 = 1;
        if (!strcmp(words[i], "file")) file = tmpfile();
    }
    curl_global_init(CURL_GLOBAL_ALL);
    CURLM *multi = curl_multi_init();
    for (; started < width && started < requests; started++) curl_multi_add_handle(multi, request(words[1], http2, file));
    while (done < requests) {
        int running, left;
        curl_multi_perform(multi, &running);
        for (CURLMsg *message; (message = curl_multi_info_read(multi, &left));) {
            if (message->msg != CURLMSG_DONE) continue;
            CURL *easy = message->easy_handle;
            CURLcode result = message->data.result;
            long version = 0;
            curl_easy_getinfo(easy, CURLINFO_HTTP_VERSION, &version);
            if (result != CURLE_OK) return fprintf(stderr, "curl: %s\n", curl_easy_strerror(result)), 1;
            if (http2 && version != CURL_HTTP_VERSION_2_0) return fprintf(stderr, "curl: not HTTP/2\n"), 1;
            done++;
            curl_multi_remove_handle(multi, easy);
            if (started < requests) started++, curl_multi_add_handle(multi, easy);
            else curl_easy_cleanup(easy);
        }
        if (done < requests) curl_multi_poll(multi, NULL, 0, 1000, NULL);
    }
    printf("done %ld bytes %llu\n", done, received);
    return 0;
}
