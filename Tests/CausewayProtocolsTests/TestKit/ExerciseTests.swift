import CausewayExercises
import CausewayTestKit
import CausewayWire
import Testing

/// Runs the fuzz exercises with random bytes. If an exercise finds a violation, the process stops.
@Suite("Exercises")
struct ExerciseTests {
    @Test("WebSocket with mutated frames", arguments: 0..<40)
    func webSocket(seed: Int) {
        let opcodes: [UInt8] = [0, 1, 2, 8, 9, 10]
        var (eventCount, frameCount) = (0, 0)
        var random = SplitMix64(seed: UInt64(seed))
        for _ in 0..<50 {
            var bytes = random.bytes(2)
            let mask: UInt32? = bytes[0] & 1 != 0 ? UInt32.random(in: 0 ... .max, using: &random) : nil
            for _ in 0..<random.integer(in: 0...6) {
                let opcode = opcodes[random.integer(in: 0...5)]
                bytes += frame(
                    opcode, random.bytes(random.integer(in: 0...150)), fin: random.chance(oneIn: 2), mask: mask)
            }
            if random.chance(oneIn: 2) { bytes[random.integer(in: 0...(bytes.count - 1))] ^= 1 << UInt8(seed & 7) }
            eventCount += Exercise.webSocketMachine(bytes)
            frameCount += Exercise.webSocketFrames(Array(bytes.dropFirst(2)))
            eventCount += Exercise.webSocketDeflate(bytes)
        }
        // Each run reports at least one event, its end.
        #expect(eventCount >= 50 && frameCount > 0)
    }

    @Test("The upgrade with random heads", arguments: 0..<20)
    func heads(seed: Int) {
        var random = SplitMix64(seed: UInt64(seed))
        let words = [
            "Host: h\r\n", "Upgrade: websocket\r\n", "Connection: Upgrade\r\n", "Sec-WebSocket-Version: 13\r\n",
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n", "\r\n", "\r\n", "\r", "\n", ": ", "Host", " ", ",",
            "\u{0}", "/",
        ]
        var wholeCount = 0
        for _ in 0..<200 {
            var bytes = Array((random.chance(oneIn: 2) ? "GET / HTTP/1.1\r\n" : "HTTP/1.1 101 x\r\n").utf8)
            for _ in 0..<random.integer(in: 0...25) {
                bytes += Array(words[random.integer(in: 0...(words.count - 1))].utf8)
            }
            if Exercise.upgradeHead(bytes) { wholeCount += 1 }
        }
        #expect(wholeCount > 0)
    }

    @Test("Challenges, cookies and references of random words", arguments: 0..<20)
    func semantics(seed: Int) {
        var random = SplitMix64(seed: UInt64(seed))
        let challenges = [
            "Basic", "Digest", " ", "realm=", "\"x\"", ", ", "nonce=\"n\"", "qop=auth", "algorithm=SHA-256", "-sess",
            "\n", "\\", "\"", "=",
            "stale=true", "userhash=true", "nextnonce=\"m\"", "\u{0}", "é",
        ]
        let cookies = [
            "a=b", "c", "=", "; ", "Path=/", "dir", "Domain=a.example", "Secure", "HttpOnly", "Max-Age=", "9",
            "Expires=", "1 Jan 2031 0:0:0",
            "\n", "__Host-", "SameSite=None", "\u{0}", "é", "\t",
        ]
        let references = [
            "https", "http", "data", ":", "//", "/", "..", ".", "a.example", "@", "[::1]", ":80", "?q", "#f", "%20",
            " ", "é", "\\", ";base64,", "aGk=",
        ]
        func text(_ words: [String]) -> [UInt8] {
            (0..<random.integer(in: 0...25)).flatMap { _ in Array(words[random.integer(in: 0...(words.count - 1))].utf8)
            }
        }
        let records = ["\n", "a.example\t/\tn\tv\th\t2000000000\t1", "\t", "%", "k=v", "s", "/", "\u{0}", "9", "é"]
        let suffixes = ["\n", "*.", "!", "com", ".", "co.uk", "//", "é", "公司", "\u{0}", " "]
        var (answeredCount, storedCount, followedCount, recordCount) = (0, 0, 0, 0)
        for _ in 0..<300 {
            answeredCount += Exercise.challenges(text(challenges))
            storedCount += Exercise.setCookies(text(cookies))
            recordCount += Exercise.cookieFile(text(records))
            Exercise.publicSuffixes(text(suffixes))
            if Exercise.references(text(references)) { followedCount += 1 }
        }
        #expect(answeredCount > 0 && storedCount > 0 && followedCount > 0 && recordCount > 0)
    }

    @Test("Forms, events and file names of random words", arguments: 0..<20)
    func fields(seed: Int) {
        var random = SplitMix64(seed: UInt64(seed))
        let form = [
            "--b", "\r\n--b", "--", "\r\n", "\r\n\r\n", "\r", "\n", "-", " ", "x",
            "Content-Disposition: form-data; name=\"a\"", "; filename=\"%22\\\"", "Content-Type: text/plain", "é",
            "\u{0}",
        ]
        let events = [
            "data", "id", "event", "retry", ":", ": ", "\n", "\r", "\r\n", "\n\n", "x", "7", "é", "\u{FEFF}", "\u{0}",
        ]
        let names = [
            "attachment", ";", "filename", "filename*", "=", "\"", "UTF-8''", "%2F", "%", "/", "..", "\\", "a", ".txt",
            "\u{0}",
        ]
        func text(_ words: [String]) -> [UInt8] {
            (0..<random.integer(in: 0...20)).flatMap { _ in Array(words[random.integer(in: 0...(words.count - 1))].utf8)
            }
        }
        var (partCount, eventCount, nameCount) = (0, 0, 0)
        for _ in 0..<300 {
            let start = random.chance(oneIn: 2) ? "--b\r\nContent-Disposition: form-data; name=\"n\"\r\n\r\n" : ""
            partCount += Exercise.multipart(Array(start.utf8) + text(form) + "\r\n--b--".utf8)
            eventCount += Exercise.events(text(events))
            nameCount += Exercise.suggestedNames(text(names))
        }
        #expect(partCount > 0 && eventCount > 0 && nameCount > 0)
    }

    /// Returns up to three HTTP messages made of random parts. One byte is changed in about one of three results.
    private func messages(_ random: inout SplitMix64) -> [UInt8] {
        let starts = [
            "GET / HTTP/1.1\r\nHost: h\r\n", "POST /a HTTP/1.1\r\nHost: h\r\n", "HEAD / HTTP/1.0\r\n",
            "HTTP/1.1 200 OK\r\n",
            "HTTP/1.1 200 OK\r\n", "HTTP/1.0 204 No\r\n", "HTTP/1.1 100 C\r\n", "HTTP/1.1 101 S\r\n", "",
        ]
        let lines = [
            "Content-Length: 3\r\n", "Transfer-Encoding: chunked\r\n", "Connection: keep-alive\r\n",
            "Connection: close\r\n",
            "Upgrade: x\r\n", "Expect: 100-continue\r\n", "A: \"b, c\"\r\n", "A: b\n", ": ",
        ]
        let bodies = ["abc", "3\r\nabc\r\n", "3;x\r\nabc\r\n", "0\r\n\r\n", "0\r\nA: b\r\n\r\n", ""]
        func one(_ words: [String]) -> String { words[random.integer(in: 0...(words.count - 1))] }
        var text = ""
        for _ in 0..<random.integer(in: 1...3) {
            text += one(starts)
            for _ in 0..<random.integer(in: 0...2) { text += one(lines) }
            text += "\r\n"
            for _ in 0..<random.integer(in: 0...2) { text += one(bodies) }
        }
        var bytes = Array(text.utf8)
        if random.chance(oneIn: 3) {
            bytes[random.integer(in: 0...(bytes.count - 1))] = UInt8.random(in: 0...255, using: &random)
        }
        return bytes
    }

    @Test("HTTP/1 with random messages", arguments: 0..<40)
    func http1(seed: Int) {
        var random = SplitMix64(seed: UInt64(seed))
        var (headCount, bodyCount, eventCount) = (0, 0, 0)
        for _ in 0..<200 {
            let bytes = messages(&random)
            headCount += Exercise.httpHead(bytes)
            let chunks = (0..<random.integer(in: 0...4)).map { _ in
                random.chance(oneIn: 2) ? "3\r\nabc\r\n" : random.chance(oneIn: 2) ? "0\r\nA: b\r\n\r\n" : "1;x\r\na"
            }
            if Exercise.httpChunks(Array(chunks.joined().utf8)) { bodyCount += 1 }
            eventCount += Exercise.http1Connection(random.bytes(2) + bytes)
        }
        #expect(headCount > 0 && bodyCount > 0 && eventCount > 200)
    }

    @Test("HTTP connections with any order of calls", arguments: 0..<20)
    func httpCalls(seed: Int) {
        var random = SplitMix64(seed: UInt64(seed))
        var eventCount = 0
        for _ in 0..<20 {
            eventCount += Exercise.http1Calls(random.bytes(random.integer(in: 0...300)))
            eventCount += Exercise.http2Calls(random.bytes(random.integer(in: 0...300)))
        }
        #expect(eventCount > 0)
    }

    @Test("Framers with any order of calls", arguments: 0..<200)
    func framers(seed: Int) {
        var random = SplitMix64(seed: UInt64(seed))
        var deliveredCount = 0
        for _ in 0..<20 { deliveredCount += Exercise.framer(random.bytes(random.integer(in: 0...300))) }
        #expect(deliveredCount > 0)
    }

    @Test("Mutated DNS messages, sent to multicast DNS links", arguments: 0..<40)
    func dns(seed: Int) {
        var random = SplitMix64(seed: UInt64(seed))
        // This DNS message announces one service, with its name, its SRV record and its TXT record.
        let answer: [UInt8] =
            [0, 0, 0x84, 0, 0, 0, 0, 3, 0, 0, 0, 0, 2, 95, 116, 4, 95, 116, 99, 112, 5, 108, 111, 99, 97, 108, 0]
            + [0, 12, 0, 1, 0, 0, 17, 148, 0, 4, 1, 66, 0xc0, 12]
            + [0xc0, 0x25, 0, 33, 0x80, 1, 0, 0, 0, 120, 0, 9, 0, 0, 0, 0, 0, 80, 1, 104, 0]
            + [0xc0, 0x25, 0, 16, 0x80, 1, 0, 0, 17, 148, 0, 4, 3, 97, 61, 98]
        #expect(Exercise.dnsMessage(answer))
        var sentCount = 0
        for _ in 0..<50 {
            var bytes = answer
            for _ in 0..<random.integer(in: 0...3) {
                bytes[random.integer(in: 0...(bytes.count - 1))] = UInt8(random.integer(in: 0...255))
            }
            Exercise.dnsMessage(bytes)
            var life: [UInt8] = [UInt8(seed)]
            for _ in 0..<random.integer(in: 1...6) {
                life += [UInt8(random.integer(in: 0...127)) << 1, UInt8(bytes.count)] + bytes
                life += [UInt8(random.integer(in: 0...15)) << 4 | 1, UInt8(random.integer(in: 0...255))]
            }
            sentCount += Exercise.multicastLink(life)
        }
        // Each simulated link sends queries and probes when it starts.
        #expect(sentCount >= 50)
    }

    @Test("A bridge between two links with any events at any time", arguments: 0..<50)
    func linkBridge(seed: Int) {
        var random = SplitMix64(seed: UInt64(seed))
        #expect(Exercise.linkBridge((0..<4_000).map { _ in UInt8(random.integer(in: 0...255)) }) > 0)
    }

    @Test("A sleep proxy client with any messages at any time", arguments: 0..<50)
    func sleepProxyClient(seed: Int) {
        var random = SplitMix64(seed: UInt64(seed))
        #expect(Exercise.sleepProxyClient((0..<4_000).map { _ in UInt8(random.integer(in: 0...255)) }) > 0)
    }

    @Test(
        "Mutated messages of the system bus, sent to the clients of network management programs",
        arguments: 0..<20)
    func bus(seed: Int) {
        var random = SplitMix64(seed: UInt64(seed))
        var messages: [UInt8] = []
        for serial in 2...9 as ClosedRange<UInt32> {
            var message = DBusMessage(.answer, serial: serial)
            (message.sender, message.replySerial) = ("org.freedesktop.DBus", serial + 7)
            message.body = [.string(":1.1")]
            messages += message.encoded
        }
        var signal = DBusMessage(.signal, serial: 1)
        (signal.sender, signal.interface, signal.member) = (":1.1", "org.freedesktop.NetworkManager", "DeviceAdded")
        signal.body = [.objectPath("/a/b")]
        messages += signal.encoded
        #expect(Exercise.busMessage(signal.encoded))
        for _ in 0..<100 {
            var bytes = messages
            for _ in 0..<random.integer(in: 0...3) {
                bytes[random.integer(in: 0...(bytes.count - 1))] = UInt8(random.integer(in: 0...255))
            }
            // The greeting is sent before the first message is read.
            #expect(Exercise.interfaceManagers(bytes) > 0)
            Exercise.secretService(bytes)
            Exercise.busMessage(signal.encoded.map { random.chance(oneIn: 30) ? $0 ^ 1 : $0 })
        }
    }
}
