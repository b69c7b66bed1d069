import Foundation
import Testing

extension Interop {
    /// Names with all kinds of characters, and names that two hosts claim, with Avahi and python-zeroconf on the other host.
    @Suite(
        "Bonjour names",
        .enabled(if: TwoHosts.isAvailable && Avahi.isAvailable && Zeroconf.isAvailable, "needs root, ip and peers"))
    struct BonjourNamesTests {
        private static let type = "_nwnames._tcp"

        /// A hundred service names. They contain each ASCII punctuation character, and text that is composed,
        /// decomposed, wide, joined, right to left, or of maximum length. Spaces and dots occur in every position that
        /// is allowed.
        static let names: [String] = {
            let marks = (0x21...0x7E).compactMap { Unicode.Scalar($0) }.filter { !$0.properties.isAlphabetic }
                .map { "mark \($0) in \($0)\($0)" }
            let texts = [
                "plain", "two words", " begins with a space", "ends with a space ", "  ", "a.b.c", ".begins", "ends.",
                "...",
                "back\\slash", "\\", "\\.", "\\032", "Küche", "Cafe\u{301}", "Ångström", "Ελληνικά", "Кухня", "مطبخ",
                "מטבח",
                "厨房", "台所のプリンター", "부엌", "ครัว", "रसोई", "Tiếng Việt", "ſtraße", "İstanbul", "😀", "👩‍👩‍👧‍👦", "🇨🇭",
                "e\u{301}\u{302}",
                "zero\u{200B}width", "nb\u{A0}space", "\u{FEFF}mark", "“quoted”", "naïve—dash", "½ ⅔", "ﬁ ligature",
                String(repeating: "x", count: 63), String(repeating: "é", count: 31), String(repeating: "漢", count: 21),
                "UPPER and lower", "tab-less", "_underscore._tcp", "local", "a.local", "(2)", "Name (2)", "#2",
                "%41%20", "&amp; <b>",
                "$HOME `id`", "* ? [a-z]", "'single'", "\"double\"", "-dash", "--", "1", "0", "3.14", "::1",
            ]
            return Array((marks + texts).prefix(100))
        }()

        /// The names in Unicode normalization form C. Other hosts see them in this form.
        private static var expected: Set<String> { Set(names.map(\.precomposedStringWithCanonicalMapping)) }

        @Test("C72 C78: Avahi and zeroconf read a hundred names with all kinds of characters unchanged")
        func oursAreRead() async throws {
            #expect(Self.expected.count == 100)
            try await TwoHosts.run { hosts, scratch in
                let avahi = try await Avahi.start(on: hosts.far, scratch)
                let program = try scratch.start(
                    try Built.program("NetServiceProgram"), ["--names", Self.type], on: hosts.near, input: .held)
                for name in Self.names { try program.write(name + "\n") }
                try await eventually("all are registered: \(program.text)") {
                    program.text.split(separator: "\n").count == 100
                }
                let theirs = try avahi.run("avahi-browse -p \(Self.type)", scratch)
                try await eventually("Avahi finds them: \(Self.missing(Self.avahiNames(theirs.text)))") {
                    Self.avahiNames(theirs.text) == Self.expected
                }
                let zeroconf = try scratch.start(Zeroconf.python, Zeroconf.names(Self.type), on: hosts.far)
                try await eventually("zeroconf finds them: \(Self.missing(Self.lines(zeroconf.text)))") {
                    Self.lines(zeroconf.text) == Self.expected
                }
            }
        }

        @Test(
            "C56 C58: two hosts that claim one name at the same time end with different names",
            arguments: 0..<3)
        func simultaneous(_ round: Int) async throws {
            try await TwoHosts.run { hosts, scratch in
                let avahi = try await Avahi.start(on: hosts.far, scratch)
                let theirs = try avahi.run("avahi-publish -s Same \(Self.type) 1", scratch)
                try await Task.sleep(for: .milliseconds(120 * round))
                let ours = try scratch.start(try Built.nw(), ["register", "Same", Self.type, "2"], on: hosts.near)
                let browser = try avahi.run("avahi-browse -p \(Self.type)", scratch)
                try await eventually("both have names: \(ours.text) \(theirs.errors) \(browser.text)") {
                    let names = Self.avahiNames(browser.text)
                    return names.count == 2 && names.contains("Same") && ours.text.contains("registered as ")
                }
                #expect(ours.errors == "")
            }
        }

        @Test("C58 C65: when two networks with equal service names are joined, two different names remain")
        func healed() async throws {
            try await TwoHosts.run { hosts, scratch in
                let avahi = try await Avahi.start(on: hosts.far, scratch)
                try Self.cut(hosts.near, true)
                let theirs = try avahi.run("avahi-publish -s Same \(Self.type) 1", scratch)
                let ours = try scratch.start(try Built.nw(), ["register", "Same", Self.type, "2"], on: hosts.near)
                try await ours.prints("registered as Same\n")
                try await eventually("Avahi publishes") { theirs.errors.contains("Established") }
                try await Task.sleep(for: .seconds(8))
                try Self.cut(hosts.near, false)
                // The two hosts notice the conflict only when a query is sent. So start a browser and a query.
                let browser = try scratch.start(try Built.nw(), ["browse", Self.type], on: hosts.far)
                _ = try scratch.start(
                    try Built.nw(), ["query", "Same.\(Self.type).local", "SRV", "-t", "9"], on: hosts.near)
                try await eventually("one host renames its service: \(ours.text) \(theirs.errors) \(browser.text)") {
                    ours.text.contains("Same (2)") || theirs.errors.contains("Same #2")
                }
                try await eventually("both are seen: \(browser.text)") {
                    // Avahi renames its service without checking whether this is necessary. Both hosts may therefore
                    // rename their services before the browser sees the old name.
                    ["+ Same  ", "+ Same (2)", "+ Same #2"].count { browser.text.contains($0) } >= 2
                }
            }
        }

        /// Makes both hosts drop all packets on the link, or ends this. The links keep their carrier.
        private static func cut(_ host: String, _ isCut: Bool) throws {
            let rules =
                isCut
                ? "table netdev cut { chain i { type filter hook ingress device \(TwoHosts.link) priority 0; policy drop; }\n"
                    + "chain e { type filter hook egress device \(TwoHosts.link) priority 0; policy drop; }\n}"
                : "delete table netdev cut"
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
            process.arguments = ["ip", "netns", "exec", host, "nft", rules]
            try process.run()
            process.waitUntilExit()
            try #require(process.terminationStatus == 0)
        }

        private static func missing(_ found: Set<String>) -> String {
            "missing \(expected.subtracting(found).sorted()), too many \(found.subtracting(expected).sorted())"
        }

        private static func lines(_ text: String) -> Set<String> {
            Set(text.split(separator: "\n").map { String($0).precomposedStringWithCanonicalMapping })
        }

        /// Extracts the names from lines `+;link;IPv4;NAME;type;domain`, in which special characters are written as `\DDD`.
        private static func avahiNames(_ text: String) -> Set<String> {
            var names: Set<String> = []
            for line in text.split(separator: "\n") where line.hasPrefix("+") {
                let fields = line.split(separator: ";", omittingEmptySubsequences: false)
                guard fields.count > 3 else { continue }
                var bytes = Array(fields[3].utf8)[...]
                var name: [UInt8] = []
                while let byte = bytes.popFirst() {
                    let digits = bytes.prefix(3).compactMap { Int(String(UnicodeScalar($0))) }
                    guard byte == UInt8(ascii: "\\") else {
                        name.append(byte)
                        continue
                    }
                    if digits.count == 3 {
                        name.append(UInt8(truncatingIfNeeded: digits[0] * 100 + digits[1] * 10 + digits[2]))
                        bytes.removeFirst(3)
                    } else if let plain = bytes.popFirst() {
                        name.append(plain)
                    }
                }
                names.insert(String(decoding: name, as: UTF8.self).precomposedStringWithCanonicalMapping)
            }
            return names
        }
    }
}
