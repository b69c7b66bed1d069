import CausewayExercises
import CausewayTypes
import Testing

@testable import CausewayPeerProtocols

@Suite("The TXT record of a peer")
struct PeerAnnouncementTests {
    private let peer = PeerInfo(
        key: PeerKey(id: 0x0102_0304_0506_0708, high: 0x0F1F_2F3F_4F5F_6F7F, low: 0x8F9F_AFBF_CFDF_EFFF), name: "Ann é")
    private static let valid = ["_cw": "1.0", "_id": "AQIDBAUGBwg", "_k": "AAAAAAAAAAAAAAAAAAAAAA"]

    @Test("A record is read as it was written, with the pairs of the program")
    func roundTrip() throws {
        let announcement = PeerAnnouncement(peer, ["level": "7", "_ID": "mine", "_other": "x"])
        let record = announcement.record
        #expect(record.dictionary["_cw"] == "1.0" && record.dictionary["_id"] == "AQIDBAUGBwg")
        #expect(record.dictionary["_k"]?.utf8.count == 22)
        let read = try #require(PeerAnnouncement(NWTXTRecord(record.data)))
        #expect(read == announcement && read.peer == peer && read.info == ["level": "7", "_other": "x"])
        #expect(Exercise.peerRecord([UInt8](record.data)))
    }

    @Test("The instance has 16 digits of the key digest, and not the name")
    func instance() {
        let instance = { (high: UInt64, low: UInt64) in
            PeerAnnouncement(PeerInfo(key: PeerKey(id: 1, high: high, low: low), name: "Ann"), [:]).instance
        }
        #expect(instance(0, 0) == "aaaaaaaaaaaaaaaa" && instance(.max, .max) == "7777777777777777")
        #expect(PeerAnnouncement(peer, [:]).instance == "b4ps6p2pl5xx7d47")
    }

    @Test("A long name is cut at a character, and still fits into the record")
    func longName() {
        let long = PeerInfo(key: peer.key, name: String(repeating: "é", count: 200))
        let name = PeerAnnouncement(PeerAnnouncement(long, [:]).record)?.peer.name
        #expect(name == String(repeating: "é", count: 126))
    }

    @Test(
        "Every minor version of version 1 is a peer, with keys in either case",
        arguments: [[:], ["_cw": "1"], ["_cw": "1.25"], ["_CW": "1.0"]])
    func accepted(_ changes: [String: String]) {
        let announcement = PeerAnnouncement(NWTXTRecord(Self.valid.merging(changes) { _, new in new }))
        #expect(announcement?.peer == PeerInfo(key: PeerKey(id: 0x0102_0304_0506_0708, high: 0, low: 0), name: ""))
        #expect(announcement?.info == [:])
    }

    @Test(
        "A record of another framework, of a later version, or with malformed numbers is no peer",
        arguments: [
            ["_cw": ""], ["_cw": "2.0"], ["_cw": "10"], ["_cw": ".1"], ["_id": ""], ["_id": "AQID"],
            // In this Base64 text, the unused bits after the last byte are not zero.
            ["_id": "AQIDBAUGBwh"], ["_id": "!QIDBAUGBwg"], ["_k": "x"], ["_k": String(repeating: "A", count: 200)],
        ] as [[String: String]])
    func refused(_ changes: [String: String]) {
        #expect(PeerAnnouncement(NWTXTRecord(Self.valid.merging(changes) { _, new in new })) == nil)
    }
}
