import CausewayPeerProtocols
import Foundation
import Testing

@testable import CausewayPeers

@Suite("The store of recorded keys")
struct PeerPinStoreTests {
    private func inPrivateDirectory(_ body: (String) throws -> Void) throws {
        let root = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
        defer { try? FileManager.default.removeItem(atPath: root) }
        try body(root)
    }

    private func entry(_ id: UInt64, _ digest: UInt64 = 1, isPaired: Bool = false, first: UInt64 = 0) -> PinEntry {
        PinEntry(key: PeerKey(id: id, high: digest, low: 0), name: "Ann", firstSeen: first, isPaired: isPaired)
    }

    private func mode(_ path: String) throws -> Int? {
        (try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? NSNumber)?.intValue
    }

    @Test("A key is written with mode 0600 in folders with mode 0700, for one service, and read again")
    func roundTrip() throws {
        try inPrivateDirectory { root in
            let store = PeerPinStore("Abc-Chat", in: root)
            #expect(try store.pins().isEmpty)
            try store.write(entry(0xAB))
            let pin = try #require(try store.pins().first)
            #expect(
                pin.peer.id == 0xAB && pin.peer.name == "Ann" && !pin.isPaired && pin.date.timeIntervalSinceNow > -60)
            #expect(try mode("\(root)/pins/abc-chat/00000000000000ab") == 0o600)
            #expect(try mode(root) == 0o700 && mode("\(root)/pins") == 0o700 && mode("\(root)/pins/abc-chat") == 0o700)
            #expect(try PeerPinStore("other", in: root).pins().isEmpty)
            #expect(try FileManager.default.contentsOfDirectory(atPath: "\(root)/pins/abc-chat").count == 1)
        }
    }

    @Test("Another key for a number is refused, a pairing stays, and a forgotten number is new")
    func changes() throws {
        try inPrivateDirectory { root in
            let store = PeerPinStore("abc", in: root)
            try store.write(entry(1))
            #expect(throws: PeerFailure(.identityChanged)) { try store.write(entry(1, 2)) }
            try store.write(entry(1, isPaired: true))
            try store.write(entry(1))
            let pin = try #require(try store.pins().first)
            #expect(pin.isPaired)
            #expect(try mode("\(root)/pins/abc/0000000000000001") == 0o600)
            try store.forget(pin.peer)
            try store.write(entry(1, 2))
            #expect(try store.load(.known).standing(of: entry(1, 2).key) == .pinned)
            try store.forgetAll()
            #expect(try store.pins().isEmpty)
        }
    }

    @Test("A malformed file, and files and folders that others can read or change, are errors that name them")
    func refused() throws {
        try inPrivateDirectory { root in
            let store = PeerPinStore("abc", in: root)
            try store.write(entry(1))
            let (files, path) = (FileManager.default, "\(root)/pins/abc/0000000000000001")
            func expectFailure(_ part: String) {
                let failure = #expect(throws: PeerFailure(.file)) { try store.pins() }
                #expect(failure?.message.contains(part) == true, "\(failure?.message ?? "")")
            }
            try files.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
            expectFailure("chmod 600")
            try files.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
            try files.moveItem(atPath: path, toPath: "\(root)/pins/abc/0000000000000002")
            expectFailure("another id")
            try store.remove(2)
            try Data("nonsense".utf8).write(to: URL(fileURLWithPath: path))
            try files.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
            expectFailure(path)
            try files.setAttributes([.posixPermissions: 0o777], ofItemAtPath: "\(root)/pins/abc")
            expectFailure("chmod 700")
        }
    }

    @Test("A store that cannot be read is an error that names the place, and not a store without keys")
    func unreadable() throws {
        try inPrivateDirectory { root in
            // A file is in the place of a folder on the path.
            try Data().write(to: URL(fileURLWithPath: root))
            let store = PeerPinStore("abc", in: "\(root)/peers")
            let calls: [() throws -> Void] = [
                { _ = try store.pins() }, { try store.forgetAll() }, { try store.remove(1) },
                { try store.write(entry(1)) },
            ]
            for call in calls {
                let failure = #expect(throws: PeerFailure(.file)) { try call() }
                #expect(failure?.message.contains("cannot read \(root)/peers") == true)
            }
            let loop = "\(root)-loop"
            try FileManager.default.createSymbolicLink(atPath: loop, withDestinationPath: loop)
            defer { try? FileManager.default.removeItem(atPath: loop) }
            #expect(throws: PeerFailure(.file)) { try PeerPinStore("abc", in: loop).pins() }
        }
    }

    @Test("More files than the limit: the oldest without pairing are removed")
    func limit() throws {
        try inPrivateDirectory { root in
            let store = PeerPinStore("abc", in: root, limit: 2)
            try store.write(entry(1, isPaired: true, first: 10))
            try store.write(entry(2, first: 20))
            try store.write(entry(3, first: 30))
            #expect(try store.pins().map(\.peer.id) == [1, 3])
            #expect(try FileManager.default.contentsOfDirectory(atPath: store.directory).count == 2)
        }
    }

    @Test("On a full disk a key is an error that names the file, and what was recorded stays as it was")
    func fullDisk() async {
        await #expect(processExitsWith: .success) {
            let root = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
            defer { try? FileManager.default.removeItem(atPath: root) }
            let store = PeerPinStore("abc-chat", in: root)
            let known = PinEntry(key: PeerKey(id: 1, high: 1, low: 0), name: "Ann", firstSeen: 5, isPaired: false)
            try store.write(known)
            // Set the process's file size limit to zero. Every write then fails, as on a full disk.
            signal(SIGXFSZ, SIG_IGN)
            var none = rlimit(rlim_cur: 0, rlim_max: .max)
            #expect(unsafe setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &none) == 0)
            let paired = PinEntry(key: known.key, name: "Ann", firstSeen: 5, isPaired: true)
            let other = PinEntry(key: PeerKey(id: 2, high: 2, low: 0), name: "Bob", firstSeen: 6, isPaired: true)
            for entry in [paired, other] {
                let failure = #expect(throws: PeerFailure.self) { try store.write(entry) }
                #expect(
                    failure?.code == .file && failure?.message.contains("cannot write \(root)/pins/abc-chat/") == true)
            }
            #expect(try store.load(.any).all == [known])
            #expect(try FileManager.default.contentsOfDirectory(atPath: "\(root)/pins/abc-chat").count == 1)
        }
    }

    @Test(
        "A pairing expires by the clock that reads it: at its second, before it if the clock is ahead, after it if behind"
    )
    func expiry() throws {
        let content = try #require(
            PairingText(
                service: "abc-chat", peer: PeerKey(id: 1, high: 1, low: 1), name: "Ann",
                secret: [UInt8](repeating: 1, count: 16), expires: 1_000))
        let pairing = try PeerPairing(content.text)
        let rows: [(clock: Double, hasExpired: Bool)] = [(0, false), (999.9, false), (1_000, true), (4_600, true)]
        for row in rows { #expect(pairing.hasExpired(at: Date(timeIntervalSince1970: row.clock)) == row.hasExpired) }
        #expect(PairingText.expiry(of: .milliseconds(500), from: 999.4) == 1_000)
        #expect(PairingText.expiry(of: .seconds(300), from: 1_000) == 1_300)
        // First test a clock before 1970. Then test a clock beyond the latest expiry time that a pairing text can
        // state.
        #expect(PairingText.expiry(of: .seconds(300), from: -1e6) == 0)
        let last = PairingText.expiry(of: .seconds(300), from: 1e30)
        #expect(PairingText(service: "a", peer: content.peer, name: "", secret: content.secret, expires: last) == nil)
    }

    @Test("A pairing text for users is read again, and its description does not show the secret")
    func text() throws {
        let content = try #require(
            PairingText(
                service: "abc", peer: entry(1).key, name: "Ann", secret: [UInt8](repeating: 1, count: 16), expires: 77))
        let pairing = PeerPairing(content)
        #expect(try PeerPairing(pairing.text) == pairing)
        #expect(pairing.expires == Date(timeIntervalSince1970: 77) && pairing.peer.name == "Ann")
        #expect(!"\(pairing)".contains(pairing.text))
        #expect(throws: PeerFailure(.invalid)) { try PeerPairing(String(pairing.text.dropLast())) }
        #expect(throws: PeerFailure(.version)) { try PeerPairing("causeway-peer:9/abc/aaaa") }
    }
}
