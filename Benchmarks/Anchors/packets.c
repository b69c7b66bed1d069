// Reference measurements with other libraries. Scripts/packet-goals starts this program, which makes one measurement
// per run. Needs libpcap and libnet to compile.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <libnet.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <pcap/pcap.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static double seconds(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static volatile uint64_t sink;

// Decodes Ethernet, VLAN tags, IPv4 or IPv6, and finds the payload. Checks only the packet's length.
static uint64_t decode(const uint8_t *bytes, uint32_t length) {
    if (length < 14) return 0;
    uint32_t at = 12;
    uint16_t type = (uint16_t)(bytes[at] << 8 | bytes[at + 1]);
    while (type == 0x8100 && at + 6 <= length) {
        at += 4;
        type = (uint16_t)(bytes[at] << 8 | bytes[at + 1]);
    }
    at += 2;
    uint8_t proto = 0;
    if (type == 0x0800 && at + 20 <= length) {
        proto = bytes[at + 9];
        at += (uint32_t)(bytes[at] & 15) * 4;
    } else if (type == 0x86DD && at + 40 <= length) {
        proto = bytes[at + 6];
        at += 40;
    } else {
        return type;
    }
    if (proto == 6 && at + 20 <= length) at += (uint32_t)(bytes[at + 12] >> 4) * 4;
    else if (proto == 17) at += 8;
    return at + proto;
}

struct packets { uint8_t *bytes[1000]; uint32_t lengths[1000]; int count; };

static pcap_t *open_file(const char *path) {
    char error[PCAP_ERRBUF_SIZE];
    pcap_t *file = pcap_open_offline(path, error);
    if (!file) { fprintf(stderr, "%s\n", error); exit(1); }
    return file;
}

static void load(const char *path, struct packets *packets) {
    pcap_t *file = open_file(path);
    struct pcap_pkthdr *header;
    const u_char *bytes;
    while (packets->count < 1000 && pcap_next_ex(file, &header, &bytes) == 1) {
        packets->bytes[packets->count] = malloc(header->caplen);
        memcpy(packets->bytes[packets->count], bytes, header->caplen);
        packets->lengths[packets->count++] = header->caplen;
    }
    pcap_close(file);
}

static void report_best(const char *name, double least, double count) { printf("%s %.3f\n", name, least / count * 1e9); }

static void run_decode(const char *path) {
    static struct packets packets;
    load(path, &packets);
    double least = 1e9;
    for (int round = 0; round < 7; round++) {
        double before = seconds(CLOCK_PROCESS_CPUTIME_ID);
        uint64_t total = 0;
        for (int again = 0; again < 500; again++)
            for (int i = 0; i < packets.count; i++) total += decode(packets.bytes[i], packets.lengths[i]);
        sink += total;
        double taken = seconds(CLOCK_PROCESS_CPUTIME_ID) - before;
        if (taken < least) least = taken;
    }
    report_best("ns", least, 500.0 * packets.count);
}

static void run_read(const char *path) {
    double least = 1e9;
    int count = 0;
    for (int round = 0; round < 5; round++) {
        double before = seconds(CLOCK_PROCESS_CPUTIME_ID);
        pcap_t *file = open_file(path);
        struct pcap_pkthdr *header;
        const u_char *bytes;
        uint64_t total = 0;
        for (count = 0; pcap_next_ex(file, &header, &bytes) == 1; count++) total += decode(bytes, header->caplen);
        pcap_close(file);
        sink += total;
        double taken = seconds(CLOCK_PROCESS_CPUTIME_ID) - before;
        if (taken < least) least = taken;
    }
    report_best("ns", least, count);
}

static void evaluate(struct bpf_program *program, struct packets *packets, int rounds) {
    double least = 1e9;
    for (int round = 0; round < 7; round++) {
        double before = seconds(CLOCK_PROCESS_CPUTIME_ID);
        uint64_t total = 0;
        for (int again = 0; again < rounds; again++)
            for (int i = 0; i < packets->count; i++)
                total += bpf_filter(program->bf_insns, packets->bytes[i], packets->lengths[i], packets->lengths[i]) != 0;
        sink += total;
        double taken = seconds(CLOCK_PROCESS_CPUTIME_ID) - before;
        if (taken < least) least = taken;
    }
    report_best("ns", least, (double)rounds * packets->count);
}

static void run_filter(const char *path, const char *expression, int rounds) {
    static struct packets packets;
    load(path, &packets);
    pcap_t *dead = pcap_open_dead(DLT_EN10MB, 262144);
    struct bpf_program program;
    double before = seconds(CLOCK_PROCESS_CPUTIME_ID);
    if (pcap_compile(dead, &program, expression, 1, PCAP_NETMASK_UNKNOWN) < 0) { pcap_perror(dead, "compile"); exit(1); }
    printf("ms %.3f\n", (seconds(CLOCK_PROCESS_CPUTIME_ID) - before) * 1e3);
    evaluate(&program, &packets, rounds);
}

static void run_hosts(const char *path, int count) {
    char *expression = malloc((size_t)count * 40), *at = expression;
    for (int i = 0; i < count; i++)
        at += sprintf(at, "%shost 10.%d.%d.%d", i ? " or " : "", 1 + i / 60000, i / 250 % 240, i % 250);
    run_filter(path, expression, 5);
}

static void run_craft(int payload) {
    char error[LIBNET_ERRBUF_SIZE];
    libnet_t *net = libnet_init(LIBNET_LINK_ADV, "lo", error);
    if (!net) { fprintf(stderr, "%s\n", error); exit(1); }
    uint8_t *data = payload ? calloc(1, (size_t)payload) : NULL, mac[6] = {2, 0, 0, 0, 0, 1};
    libnet_ptag_t tcp = 0, ip = 0, ether = 0;
    double least = 1e9;
    for (int round = 0; round < 7; round++) {
        double before = seconds(CLOCK_PROCESS_CPUTIME_ID);
        for (int i = 0; i < 100000; i++) {
            tcp = libnet_build_tcp(4000, (uint16_t)i, 0, 0, TH_SYN, 65535, 0, 0, LIBNET_TCP_H + (uint16_t)payload, data, (uint32_t)payload, net, tcp);
            ip = libnet_build_ipv4(LIBNET_IPV4_H + LIBNET_TCP_H + (uint16_t)payload, 0, (uint16_t)i, 0, 64, IPPROTO_TCP, 0, htonl(0x0A000001), htonl(0x0A000002), NULL, 0, net, ip);
            ether = libnet_build_ethernet(mac, mac, ETHERTYPE_IP, NULL, 0, net, ether);
            uint8_t *packet;
            uint32_t length;
            if (libnet_adv_cull_packet(net, &packet, &length) < 0) { fprintf(stderr, "%s", libnet_geterror(net)); exit(1); }
            sink += length;
            libnet_adv_free_packet(net, packet);
        }
        double taken = seconds(CLOCK_PROCESS_CPUTIME_ID) - before;
        if (taken < least) least = taken;
    }
    report_best("ns", least, 100000);
}

static void run_write(int size) {
    pcap_t *dead = pcap_open_dead(DLT_EN10MB, 262144);
    pcap_dumper_t *dumper = pcap_dump_open(dead, "/dev/null");
    struct pcap_pkthdr header = {.ts = {1, 2}, .caplen = (uint32_t)size, .len = (uint32_t)size};
    uint8_t *data = calloc(1, (size_t)size);
    double least = 1e9;
    for (int round = 0; round < 7; round++) {
        double before = seconds(CLOCK_PROCESS_CPUTIME_ID);
        for (int i = 0; i < 500000; i++) pcap_dump((u_char *)dumper, &header, data);
        double taken = seconds(CLOCK_PROCESS_CPUTIME_ID) - before;
        if (taken < least) least = taken;
    }
    report_best("ns", least, 500000);
}

static void run_inject(const char *interface, int count, int size) {
    char error[PCAP_ERRBUF_SIZE];
    libnet_t *net = libnet_init(LIBNET_LINK_ADV, interface, error);
    if (!net) { fprintf(stderr, "%s\n", error); exit(1); }
    uint8_t *data = calloc(1, (size_t)size);
    double before = seconds(CLOCK_MONOTONIC);
    int sent = 0;
    for (int i = 0; i < count; i++) sent += libnet_adv_write_link(net, data, (uint32_t)size) > 0;
    printf("kpps %.3f\n", sent / (seconds(CLOCK_MONOTONIC) - before) / 1e3);
}

// Sends frames of an experimental type with a timestamp, at the given rate. With rate 0, sends as fast as possible.
static void run_send(const char *interface, int count, int size, double rate) {
    int fd = socket(AF_PACKET, SOCK_RAW, 0), on = 1;
    struct sockaddr_ll address = {.sll_family = AF_PACKET, .sll_ifindex = (int)if_nametoindex(interface)};
    if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof address) < 0) { perror("socket"); exit(1); }
    setsockopt(fd, SOL_PACKET, PACKET_QDISC_BYPASS, &on, sizeof on);
    enum { batch = 32 };
    uint8_t *frames = calloc(batch, (size_t)size);
    struct mmsghdr messages[batch] = {0};
    struct iovec pieces[batch];
    for (int i = 0; i < batch; i++) {
        uint8_t *frame = frames + i * size;
        memcpy(frame, "\x02\0\0\0\0\x02\x02\0\0\0\0\x01\x88\xB5", 14);
        pieces[i] = (struct iovec){frame, (size_t)size};
        messages[i].msg_hdr.msg_iov = &pieces[i];
        messages[i].msg_hdr.msg_iovlen = 1;
    }
    double start = seconds(CLOCK_MONOTONIC);
    int sent = 0;
    while (sent < count) {
        while (rate > 0 && sent > (seconds(CLOCK_MONOTONIC) - start) * rate) usleep(50);
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        uint64_t stamp = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
        for (int i = 0; i < batch; i++)
            for (int place = 0; place < 8; place++) frames[i * size + 16 + place] = (uint8_t)(stamp >> (56 - 8 * place));
        int taken = sendmmsg(fd, messages, batch, 0);
        if (taken > 0) sent += taken;
        else if (errno != ENOBUFS && errno != EAGAIN) { perror("sendmmsg"); exit(1); }
    }
    printf("sent %d\nkpps %.3f\n", sent, sent / (seconds(CLOCK_MONOTONIC) - start) / 1e3);
}

int main(int count, char **words) {
    const char *command = count > 1 ? words[1] : "";
    if (!strcmp(command, "decode") && count == 3) run_decode(words[2]);
    else if (!strcmp(command, "read") && count == 3) run_read(words[2]);
    else if (!strcmp(command, "evaluate") && count == 4) run_filter(words[2], words[3], 200);
    else if (!strcmp(command, "hosts") && count == 4) run_hosts(words[2], atoi(words[3]));
    else if (!strcmp(command, "craft") && count == 3) run_craft(atoi(words[2]));
    else if (!strcmp(command, "write") && count == 3) run_write(atoi(words[2]));
    else if (!strcmp(command, "inject") && count == 5) run_inject(words[2], atoi(words[3]), atoi(words[4]));
    else if (!strcmp(command, "send") && count == 6) run_send(words[2], atoi(words[3]), atoi(words[4]), atof(words[5]));
    else return 2;
    return 0;
}
