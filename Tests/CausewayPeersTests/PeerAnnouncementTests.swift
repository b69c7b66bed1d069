import Network
import Testing

@testable import CausewayPeers

@Suite("The TXT record of a peer")
struct PeerAnnouncementTests {
    private let peer = PeerIdentity(
        id: 0x0102_0304_0506_0708, fingerprint: (0..<16).map { UInt8($0 * 16 + 15) }, name: "Ann é")

    @Test("A record is read as it was written, with the pairs of the program")
    func roundTrip() throws {
        let announcement = PeerAnnouncement(peer, ["level": "7", "_ID": "mine"])
        let record = announcement.record
        #expect(record.dictionary["_cw"] == "1.0" && record.dictionary["_id"]?.utf8.count == 11)
        #expect(record.dictionary["_k"]?.utf8.count == 22)
        let read = try #require(PeerAnnouncement(NWTXTRecord(record.data)))
        #expect(read.peer == peer && read.peer.name == "Ann é" && read.info == ["level": "7"])
    }

    @Test("The instance has 16 digits of the key digest, and not the name")
    func instance() {
        #expect(PeerAnnouncement(peer, [:]).instance.utf8.count == 16)
        #expect(PeerAnnouncement(peer, [:]).instance.allSatisfy { "abcdefghijklmnopqrstuvwxyz234567".contains($0) })
    }

    @Test(
        "A record of another framework, of a later version, or with malformed numbers is no peer",
        arguments: [
            [:], ["_cw": "2.0"], ["_cw": "1.0", "_id": "AQIDBAUGBwg"], ["_cw": "1.0", "_id": "!", "_k": "x"],
            ["_cw": "1.0", "_id": "AQID", "_k": "AAAAAAAAAAAAAAAAAAAAAA"],
            ["_cw": "1.0", "_id": "AQIDBAUGBwg", "_k": String(repeating: "A", count: 200)],
        ] as [[String: String]])
    func refused(_ pairs: [String: String]) {
        #expect(PeerAnnouncement(NWTXTRecord(pairs)) == nil)
    }
}
