import CausewayPeers
import Foundation
import Testing

@testable import nw

/// Tests how `nw peers doctor` reads firewall rules and the time.
@Suite("Checks of the doctor")
struct PeersDoctorTests {
    @Test(
        "A rule that drops UDP port 5353 is found, unless an earlier one accepts it",
        arguments: [
            ("-A INPUT -p udp -m udp --dport 5353 -j DROP", 1), ("-A INPUT -p udp --dport 53 -j DROP", 0),
            ("-A INPUT -p tcp --dport 5353 -j DROP", 0), ("-A OUTPUT -p udp --sport 5353 -j ACCEPT", 0),
            ("-A INPUT -p udp --dport 5353 -j ACCEPT\n-A INPUT -p udp --dport 5353 -j DROP", 0),
            ("-A INPUT -p udp --dport 5353 -j DROP\n-A INPUT -p udp --dport 5353 -j ACCEPT", 1),
            ("table inet f {\n  chain input {\n    udp dport { 53, 5353 } reject\n  }\n}", 1), ("", 0),
        ])
    func rules(_ row: (text: String, count: Int)) {
        #expect(FirewallRules.dropping(5_353, in: row.text).count == row.count)
    }

    @Test("Services without the record of a peer are named, at most five of them, as a note")
    func otherPrograms() throws {
        #expect(ForeignServices.isForeign([:]) && ForeignServices.isForeign(["app": "1"]))
        #expect(!ForeignServices.isForeign(["_cw": "1.0"]))
        #expect(ForeignServices.step(names: []) == nil)
        let step = try #require(ForeignServices.step(names: ["f", "b", "b", "a", "c", "d", "e"]))
        #expect(step.outcome == .note && step.what.hasSuffix(": a, b, c, d, e"))
    }

    @Test("Key files that cannot be listed are a fault with a remedy; a missing folder is none")
    func keys() throws {
        let root = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
        let manager = FileManager.default
        try manager.createDirectory(atPath: root, withIntermediateDirectories: false)
        defer { try? manager.removeItem(atPath: root) }
        try LocalKeys.check("\(root)/none")
        let key = "\(root)/a.pem"
        try Data().write(to: URL(fileURLWithPath: key))
        try manager.setAttributes([.posixPermissions: 0o600], ofItemAtPath: key)
        try LocalKeys.check(root)
        let unreadable = #expect(throws: PeerFailure.self) { try LocalKeys.check("\(key)/folder") }
        #expect(unreadable?.message.hasPrefix("cannot read \(key)/folder: ") == true)
        try manager.setAttributes([.posixPermissions: 0o644], ofItemAtPath: key)
        let open = #expect(throws: PeerFailure.self) { try LocalKeys.check(root) }
        #expect(open?.message.contains("chmod 600") == true)
    }

    @Test("A clock at the epoch is a fault with a remedy, the time of this test is none")
    func clock() {
        let doctor = PeersDoctor(service: "abc", limit: .seconds(1))
        #expect(doctor.clock(Date(timeIntervalSince1970: 0)).outcome == .fault)
        #expect(doctor.clock(Date(timeIntervalSince1970: 0)).remedy != nil)
        #expect(doctor.clock(Date(timeIntervalSince1970: 1_800_000_000)).outcome == .passed)
    }
}

@Suite("Words of the commands for peers")
struct PeerWordsTests {
    @Test(
        "A file whose name a peer would change is not sent, with the reason",
        arguments: [("f\u{1B}x.txt", "control characters"), ("a\\b", "backslash")])
    func names(_ row: (name: String, reason: String)) throws {
        #expect {
            try PeerFileSender.name(of: "/folder/\(row.name)")
        } throws: { error in
            (error as? FileSender.NotSent)?.reason.contains(row.reason) == true
        }
        #expect(try PeerFileSender.name(of: "/folder/plain.txt") == "plain.txt")
    }

    @Test("A word for a task is not a type", arguments: ["pick", "pair", "pins", "forget"])
    func tasks(_ word: String) throws {
        #expect(throws: (any Error).self) { try PeersTask([word]) }
        #expect(try PeersTask(["abc-chat"]) == .list("abc-chat"))
    }
}
