import CausewayTestKit
import Testing

@testable import CausewayPeerProtocols

@Suite("Recorded keys and pairing")
struct PeerTrustTests {
    private func key(_ id: UInt64, _ digest: UInt64 = 1) -> PeerKey { PeerKey(id: id, high: digest, low: 0) }

    // Tests of the recorded keys of peers

    @Test(
        "A policy accepts the standings that it names, and none accepts a changed key", arguments: PeerPolicy.allCases)
    func policies(_ policy: PeerPolicy) {
        var pins = PeerPins(policy)
        _ = pins.record(PinEntry(key: key(1), name: "Ann"))
        _ = pins.record(PinEntry(key: key(2), name: "Bob", isPaired: true))
        let refusals = [key(1), key(2), key(3), key(1, 9), key(2, 9)].map { pins.refusal(of: $0) }
        let expected: [PeerReason?] =
            switch policy {
            case .any, .pinned: [nil, nil, nil, .identityChanged, .identityChanged]
            case .known: [nil, nil, .notVerified, .identityChanged, .identityChanged]
            case .paired: [.notVerified, nil, .notVerified, .identityChanged, .identityChanged]
            }
        #expect(refusals == expected)
    }

    @Test("A pairing is not taken back, a key is not replaced, and a forgotten number is new")
    func records() {
        var pins = PeerPins(.pinned)
        #expect(pins.record(PinEntry(key: key(1), name: "Ann")).isChanged)
        #expect(!pins.record(PinEntry(key: key(1), name: "Ann")).isChanged)
        #expect(!pins.record(PinEntry(key: key(1, 2), name: "Eve", isPaired: true)).isChanged)
        #expect(pins.record(PinEntry(key: key(1), name: "Ann", isPaired: true)).isChanged)
        #expect(!pins.record(PinEntry(key: key(1), name: "Ann")).isChanged)
        #expect(pins.standing(of: key(1)) == .paired && pins.standing(of: key(1, 2)) == .changed)
        pins.forget(1)
        #expect(pins.standing(of: key(1, 2)) == .unknown && pins.all.isEmpty)
    }

    @Test("Beyond the limit the oldest entry without pairing gives way; without one, new peers are refused")
    func limit() {
        var pins = PeerPins(.pinned, limit: 2)
        _ = pins.record(PinEntry(key: key(1), name: "", isPaired: true))
        _ = pins.record(PinEntry(key: key(2), name: ""))
        #expect(pins.record(PinEntry(key: key(3), name: "", isPaired: true)).evicted?.key == key(2))
        #expect(pins.refusal(of: key(4)) == .tooMuch && !pins.hasRoom)
        #expect(!pins.record(PinEntry(key: key(4), name: "")).isChanged)
        #expect(pins.all.map(\.key) == [key(1), key(3)])
    }

    @Test("An entry is read as it was written, without control characters in the name")
    func entry() throws {
        let entry = PinEntry(
            key: PeerKey(id: 7, high: .max, low: 1), name: "Ann\nkey 1\r\n\u{2028}Ö", firstSeen: 99, isPaired: true)
        #expect(entry.name == "Annkey 1Ö")
        #expect(try PinEntry(Array(entry.text.utf8)) == entry)
        let unnamed = PinEntry(key: key(1), name: "")
        #expect(try PinEntry(Array(unnamed.text.utf8)) == unnamed)
    }

    @Test(
        "A malformed entry is an error",
        arguments: [
            ("causeway-pin 1", "causeway-pin 2"), ("paired no", "paired maybe"), ("id 0", "id +"),
            ("name ", "id 0\nname "),
            ("first 0", "first -1"), ("key 0", "key "), ("name ", String(repeating: "x", count: 600)),
        ])
    func malformed(_ change: (old: String, new: String)) {
        let text = PinEntry(key: key(1), name: "").text
        guard let range = text.firstRange(of: change.old) else {
            Issue.record("'\(change.old)' is not in the text")
            return
        }
        var changed = text
        changed.replaceSubrange(range, with: change.new)
        #expect(throws: PinEntry.Malformed.self) { try PinEntry(Array(changed.utf8)) }
    }

    // Tests of pairing texts

    private func text(_ name: String = "Ann's laptop") -> PairingText? {
        PairingText(
            service: "Abc-Chat", peer: PeerKey(id: 0x0102_0304_0506_0708, high: 3, low: .max), name: name,
            secret: Array(0..<16), expires: 1_900_000_000)
    }

    @Test(
        "A text is read as it was written, in either case and with white space around it", arguments: ["", "Ann", "Ö😀"])
    func pairingText(_ name: String) throws {
        let value = try #require(text(name))
        #expect(value.service == "abc-chat")
        for text in [value.text, value.text.lowercased(), " \r\n\(value.text)\t\n"] {
            #expect(try PairingText(text) == value)
        }
        // The characters of a QR code's alphanumeric mode (ISO/IEC 18004 §7.4.4).
        let allowed = Set("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ $%*+-./:".utf8)
        #expect(value.text.utf8.allSatisfy { allowed.contains($0) })
    }

    @Test("A text with any other or missing character is refused")
    func changedText() throws {
        let bytes = Array(try #require(text()).text.utf8)
        for index in bytes.indices {
            var changed = bytes
            changed[index] = bytes[index] == UInt8(ascii: "Q") ? UInt8(ascii: "R") : UInt8(ascii: "Q")
            #expect(throws: PairingText.Malformed.self) { try PairingText(String(decoding: changed, as: UTF8.self)) }
            changed.remove(at: index)
            #expect(throws: PairingText.Malformed.self) { try PairingText(String(decoding: changed, as: UTF8.self)) }
        }
    }

    @Test(
        "A refused text has its reason",
        arguments: [
            ("", PairingText.Malformed.foreign), ("https://example.com", .foreign),
            ("CAUSEWAY-PEER:2/ABC/AAAA", .version),
            ("CAUSEWAY-PEER:1/ABC/AAAA", .content), ("CAUSEWAY-PEER:1/-/AAAA", .service),
            ("CAUSEWAY-PEER:1/ABC", .content),
            ("CAUSEWAY-PEER:1/ABC/" + String(repeating: "A", count: 104), .check),
            ("CAUSEWAY-PEER:1/ABC/" + String(repeating: "A", count: 400), .content),
        ])
    func reasons(_ row: (text: String, reason: PairingText.Malformed)) {
        #expect(throws: row.reason) { try PairingText(row.text) }
    }

    @Test("A text needs a service type, 16 bytes of secret and a time below 2^40")
    func invalidText() {
        #expect(PairingText(service: "a--b", peer: key(1), name: "", secret: Array(0..<16), expires: 0) == nil)
        #expect(PairingText(service: "ab", peer: key(1), name: "", secret: [1], expires: 0) == nil)
        #expect(PairingText(service: "ab", peer: key(1), name: "", secret: Array(0..<16), expires: 1 << 40) == nil)
        let long = PairingText(
            service: "ab", peer: key(1), name: String(repeating: "😀", count: 20), secret: Array(0..<16), expires: 0)
        #expect(long?.name.utf8.count == 60)
    }
}
