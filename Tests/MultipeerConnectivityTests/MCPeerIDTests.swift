import CausewayPeers
import Foundation
import Testing

@testable import MultipeerConnectivity

@Suite("MCPeerID")
struct MCPeerIDTests {
    @Test("Each call makes another peer; copies and archives are the same one")
    func identity() throws {
        let peer = MCPeerID(displayName: "Ann")
        #expect(peer != MCPeerID(displayName: "Ann"))
        #expect(peer.copy() as? MCPeerID === peer)
        let data = try NSKeyedArchiver.archivedData(withRootObject: peer, requiringSecureCoding: true)
        let decoded = try #require(try NSKeyedUnarchiver.unarchivedObject(ofClass: MCPeerID.self, from: data))
        #expect(decoded == peer && decoded.hash == peer.hash && decoded.displayName == "Ann")
        #expect(Set([peer, decoded]).count == 1)
        let insecure = try NSKeyedArchiver.archivedData(withRootObject: peer, requiringSecureCoding: false)
        #expect(try NSKeyedUnarchiver.unarchiveTopLevelObjectWithData(insecure) as? MCPeerID == peer)
    }

    @Test("Names have 1 to 63 bytes of UTF-8", arguments: [("", false), ("é", true)])
    func names(name: String, isValid: Bool) {
        #expect(MCPeerID.isValid(name) == isValid)
        #expect(MCPeerID.isValid(String(repeating: "n", count: 63)))
        #expect(!MCPeerID.isValid(String(repeating: "é", count: 32)))
    }

    @Test("A wrong name ends the program with the reason on a separate line")
    func misuse() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = MCPeerID(displayName: "")
        }
        let lines = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self).split(separator: "\n")
        #expect(lines.contains("MCPeerID: the display name must have 1 to 63 bytes in UTF-8, it has 0"))
    }

    @Test("The description has the name and the class")
    func description() {
        let text = MCPeerID(displayName: "Ann's phone").description
        #expect(text.hasPrefix("<MCPeerID: 0x") && text.hasSuffix(" DisplayName = Ann's phone>"))
    }

    @Test("A remote peer keeps the digest of its key in an archive")
    func remote() throws {
        let face = PeerIdentity(id: 9, fingerprint: Array(1...16), name: "Bob")
        let data = try NSKeyedArchiver.archivedData(withRootObject: MCPeerID(face), requiringSecureCoding: true)
        let decoded = try NSKeyedUnarchiver.unarchivedObject(ofClass: MCPeerID.self, from: data)
        #expect(decoded?.peer == face && decoded?.displayName == "Bob")
    }

    @Test("The archive names the plain class too, and is found by it")
    func plainName() throws {
        let peer = MCPeerID(displayName: "Ann")
        let data = try NSKeyedArchiver.archivedData(withRootObject: peer, requiringSecureCoding: true)
        let list = try PropertyListSerialization.propertyList(from: data, format: nil) as? [String: Any]
        let objects = try #require(list?["$objects"] as? [Any])
        let hints = objects.compactMap { ($0 as? [String: Any])?["$classhints"] as? [String] }.joined()
        #expect(hints.contains("MCPeerID"))
        let found: AnyClass? = NSKeyedUnarchiver.class(forClassName: "MCPeerID")
        #expect(found == MCPeerID.self)
    }

    @Test("Malformed archives give no peer", arguments: [(7, "Ann", 16), (8, "", 16), (8, "Ann", 15)])
    func malformed(numberSize: Int, name: String, fingerprintSize: Int) throws {
        let archiver = NSKeyedArchiver(requiringSecureCoding: true)
        archiver.encode(Data(repeating: 1, count: numberSize) as NSData, forKey: "MCPeerID.number")
        archiver.encode(name as NSString, forKey: "MCPeerID.displayName")
        archiver.encode(Data(count: fingerprintSize) as NSData, forKey: "MCPeerID.fingerprint")
        archiver.finishEncoding()
        let unarchiver = try NSKeyedUnarchiver(forReadingFrom: archiver.encodedData)
        #expect(MCPeerID(coder: unarchiver) == nil)
    }
}
