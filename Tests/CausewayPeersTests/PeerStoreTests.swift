import Foundation
import Testing

@testable import CausewayPeers

@Suite("The store of keys")
struct PeerStoreTests {
    private func inPrivateDirectory(_ body: (PeerStore) throws -> Void) throws {
        let root = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
        defer { try? FileManager.default.removeItem(atPath: root) }
        try body(PeerStore(["XDG_DATA_HOME": root]))
    }

    @Test("A key is written with mode 0600 and read again")
    func roundTrip() throws {
        try inPrivateDirectory { store in
            let key = try PeerKeyPair()
            #expect(try store.key(7) == nil)
            try store.write(key, 7)
            #expect(try store.key(7)?.publicKey == key.publicKey)
            let path = store.directory + "/0000000000000007.pem"
            let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? NSNumber
            #expect(mode?.intValue == 0o600)
            try store.write(key, 7)
        }
    }

    @Test("A file that others may read, a malformed file and a second key are errors")
    func refused() throws {
        try inPrivateDirectory { store in
            try store.write(PeerKeyPair(), 1)
            #expect(throws: PeerFailure(.file)) { try store.write(PeerKeyPair(), 1) }
            let path = store.directory + "/0000000000000001.pem"
            try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
            #expect(throws: PeerFailure(.file)) { try store.key(1) }
            try Data("nonsense".utf8).write(to: URL(fileURLWithPath: path))
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
            #expect(throws: PeerFailure(.file)) { try store.key(1) }
        }
    }

    @Test("A key that cannot be looked up is an error, and no new key is made")
    func unreadable() throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
        try Data().write(to: URL(fileURLWithPath: file))
        defer { try? FileManager.default.removeItem(atPath: file) }
        let store = try PeerStore(["XDG_DATA_HOME": file])
        let failure = #expect(throws: PeerFailure(.file)) { try store.key(1) }
        #expect(failure?.message.contains("cannot read \(store.directory)/0000000000000001.pem") == true)
        #expect(throws: PeerFailure(.file)) { try LocalPeer.persistent(named: "Ann", in: store) }
    }

    @Test("A persistent identity is the same in each run, and differs between names and users")
    func persistent() throws {
        try inPrivateDirectory { store in
            let ann = try LocalPeer.persistent(named: "Ann", in: store).peer
            let again = try LocalPeer.persistent(named: "Ann", in: store).peer
            let bob = try LocalPeer.persistent(named: "Bob", in: store).peer
            #expect(again == ann && bob.id != ann.id)
            try inPrivateDirectory { other in
                let namesake = try LocalPeer.persistent(named: "Ann", in: other).peer
                #expect(namesake.id != ann.id)
            }
        }
    }

    @Test("A signature holds for its bytes and its key only")
    func signatures() throws {
        let (mine, other) = (try PeerKeyPair(), try PeerKeyPair())
        let signature = mine.sign([1, 2, 3])
        let der = mine.certificate
        #expect(PeerKeyPair.verify([1, 2, 3], signature: signature, certificate: der))
        #expect(!PeerKeyPair.verify([1, 2, 4], signature: signature, certificate: der))
        #expect(!PeerKeyPair.verify([1, 2, 3], signature: signature, certificate: other.certificate))
        #expect(!PeerKeyPair.verify([1, 2, 3], signature: [], certificate: der))
        #expect(!PeerKeyPair.verify([1, 2, 3], signature: signature, certificate: [0x30]))
    }
}
