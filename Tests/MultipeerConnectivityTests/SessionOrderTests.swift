import CausewaySystem
import Foundation
import Testing

@testable import CausewayPeers
@testable import MultipeerConnectivity

@Suite("MCSession: order, states and errors")
struct SessionOrderTests {
    private let ann = PeerIdentity(id: 1, fingerprint: [1], name: "Ann")
    private let bob = PeerIdentity(id: 2, fingerprint: [2], name: "Bob")

    private func receipt() -> PeerReceipt { PeerReceipt {} }

    @Test("Connecting comes before connected, and the list of peers shows the change inside the call")
    func states() throws {
        let fake = FakeSession()
        let engine = try #require(fake.engine())
        fake.cause(.connecting(ann), by: engine)
        fake.cause(.connecting(ann), by: engine)
        fake.cause(.connected(ann), by: engine)
        fake.cause(.connected(ann), by: engine)
        fake.cause(.connected(bob), by: engine)
        fake.cause(.notConnected(ann, PeerFailure(.left)), by: engine)
        #expect(
            fake.log == [
                "Ann connecting of ", "Ann connected of Ann", "Bob connecting of Ann,Bob", "Bob connected of Ann,Bob",
                "Ann notConnected of Bob",
            ])
    }

    @Test("Nothing of a peer is reported before connected and after notConnected")
    func silence() throws {
        let fake = FakeSession()
        let engine = try #require(fake.engine())
        fake.cause(.message(ann, Data(count: 1), receipt()), by: engine)
        fake.cause(.connecting(ann), by: engine)
        fake.cause(.message(ann, Data(count: 2), receipt()), by: engine)
        fake.cause(.connected(ann), by: engine)
        fake.cause(.message(ann, Data(count: 3), receipt()), by: engine)
        fake.cause(.notConnected(ann, PeerFailure(.network)), by: engine)
        fake.cause(.message(ann, Data(count: 4), receipt()), by: engine)
        fake.cause(.fileStarted(ann, name: "late", Progress(totalUnitCount: 1)), by: engine)
        #expect(fake.log == ["Ann connecting of ", "Ann connected of Ann", "Ann data 3", "Ann notConnected of "])
    }

    @Test("An invitation that fails without a connection gives notConnected once")
    func declined() throws {
        let fake = FakeSession()
        let engine = try #require(fake.engine())
        fake.cause(.notConnected(ann, PeerFailure(.declined)), by: engine)
        #expect(fake.log == ["Ann notConnected of "])
    }

    @Test("After disconnect only notConnected follows, also for events of the old life that arrive late")
    func disconnect() throws {
        let fake = FakeSession()
        let old = try #require(fake.engine())
        fake.cause(.connected(ann), by: old)
        fake.cause(.connecting(bob), by: old)
        fake.session.disconnect()
        fake.cause(.message(ann, Data(count: 1), receipt()), by: old)
        fake.cause(.connected(bob), by: old)
        fake.cause(.notConnected(ann, PeerFailure(.left)), by: old)
        #expect(fake.log.suffix(2) == ["Ann notConnected of ", "Bob notConnected of "])
        #expect(old.calls.last == "leave" && fake.session.connectedPeers.isEmpty)
        let new = try #require(fake.engine())
        #expect(new !== old)
        fake.cause(.connected(ann), by: new)
        fake.cause(.connected(bob), by: old)
        #expect(fake.log.suffix(2) == ["Ann connecting of Ann", "Ann connected of Ann"])
        #expect(fake.session.connectedPeers.map(\.displayName) == ["Ann"])
    }

    @Test("A peer is one object from connecting to notConnected")
    func sameObject() throws {
        let fake = FakeSession()
        let engine = try #require(fake.engine())
        fake.cause(.connected(ann), by: engine)
        let first = try #require(fake.session.connectedPeers.first)
        #expect(fake.session.connectedPeers.first === first && fake.core.object(ann) === first)
    }

    @Test("Messages: one per peer, an error for each mistake")
    func sending() throws {
        let fake = FakeSession()
        let engine = try #require(fake.engine())
        fake.cause(.connected(ann), by: engine)
        let (annID, bobID) = (MCPeerID(ann), MCPeerID(bob))
        try fake.session.send(Data(count: 5), toPeers: [annID, annID], with: .reliable)
        try fake.session.send(Data(), toPeers: [annID], with: .unreliable)
        #expect(engine.calls.suffix(2) == ["send 5 to Ann reliable", "send 0 to Ann unreliable"])
        #expect(throws: MCError.self) { try fake.session.send(Data(), toPeers: [], with: .reliable) }
        #expect(code { try fake.session.send(Data(), toPeers: [], with: .reliable) } == .invalidParameter)
        #expect(code { try fake.session.send(Data(), toPeers: [annID, bobID], with: .reliable) } == .notConnected)
        engine.failSends(with: PeerFailure(.congested))
        #expect(code { try fake.session.send(Data(), toPeers: [annID], with: .reliable) } == .unavailable)
        #expect(code { _ = try fake.session.startStream(withName: "s", toPeer: bobID) } == .notConnected)
    }

    private func code(_ body: () throws -> Void) -> MCError.Code? {
        do { try body() } catch { return (error as? MCError)?.code }
        return nil
    }

    @Test("Resources: one completion each, with the reason")
    func resources() throws {
        let fake = FakeSession()
        let engine = try #require(fake.engine())
        fake.cause(.connected(ann), by: engine)
        let annID = MCPeerID(ann)
        let codes = LockedValue<[MCError.Code?]>([])
        let note: ((any Error)?) -> Void = { error in codes.withLock { $0.append((error as! MCError?)?.code) } }
        let file = URL(fileURLWithPath: "/etc/hostname")
        #expect(fake.session.sendResource(at: file, withName: "a", toPeer: annID, withCompletionHandler: note) != nil)
        engine.completeFiles(with: nil)
        #expect(fake.session.sendResource(at: file, withName: "b", toPeer: annID, withCompletionHandler: note) != nil)
        engine.completeFiles(with: PeerFailure(.cancelled))
        let bad = try #require(URL(string: "ftp://example.com/a"))
        #expect(fake.session.sendResource(at: bad, withName: "c", toPeer: annID, withCompletionHandler: note) == nil)
        #expect(
            fake.session.sendResource(at: file, withName: "d", toPeer: MCPeerID(bob), withCompletionHandler: note)
                == nil)
        #expect(fake.session.sendResource(at: file, withName: "", toPeer: annID, withCompletionHandler: note) == nil)
        _ = fake.log
        #expect(codes.withLock { $0 } == [nil, .cancelled, .unsupported, .notConnected, .invalidParameter])
    }

    @Test("A received file exists during the call and is gone afterwards")
    func received() throws {
        let fake = FakeSession()
        let engine = try #require(fake.engine())
        fake.cause(.connected(ann), by: engine)
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let url = folder.appendingPathComponent("photo.jpg")
        try Data(count: 3).write(to: url)
        fake.cause(.fileStarted(ann, name: "photo.jpg", Progress(totalUnitCount: 1)), by: engine)
        fake.cause(.fileFinished(ann, name: "photo.jpg", .success(ReceivedFile(url)), PeerReceipt {}), by: engine)
        fake.cause(.fileFinished(ann, name: "other", .failure(PeerFailure(.cancelled)), PeerReceipt {}), by: engine)
        #expect(
            fake.log.suffix(3) == [
                "Ann starts photo.jpg", "Ann finishes photo.jpg true -", "Ann finishes other false cancelled",
            ])
        #expect(!FileManager.default.fileExists(atPath: url.path))
    }

    @Test("The delegate judges certificates; malformed ones are rejected without it", arguments: [true, false])
    func certificates(isAccepted: Bool) throws {
        let fake = FakeSession(acceptsCertificates: isAccepted)
        let engine = try #require(fake.engine())
        let answers = LockedValue<[Bool]>([])
        let question = CertificateQuestion { answer in answers.withLock { $0.append(answer) } }
        fake.cause(.certificate(ann, [], question), by: engine)
        let malformed = CertificateQuestion { answer in answers.withLock { $0.append(answer) } }
        fake.cause(.certificate(ann, [Data([1, 2, 3])], malformed), by: engine)
        #expect(answers.withLock { $0 } == [isAccepted, false] && fake.log == ["Ann certificate -1"])
    }

    @Test("Invitations: not for a connected peer, notConnected if the engine cannot start")
    func invitations() throws {
        let fake = FakeSession()
        let engine = try #require(fake.engine())
        fake.cause(.connected(ann), by: engine)
        let browser = MCNearbyServiceBrowser(peer: fake.session.myPeerID, serviceType: "Test-X")
        browser.invitePeer(MCPeerID(ann), to: fake.session, withContext: nil, timeout: 5)
        browser.invitePeer(MCPeerID(bob), to: fake.session, withContext: Data([1]), timeout: 0)
        browser.invitePeer(fake.session.myPeerID, to: fake.session, withContext: nil, timeout: .infinity)
        #expect(fake.log.last == "me notConnected of Ann")
        #expect(engine.calls.filter { $0.hasPrefix("invite") } == ["invite Bob test-x 1 30.0 seconds"])
        let broken = FakeSession(failure: PeerFailure(.unsupported))
        browser.invitePeer(MCPeerID(bob), to: broken.session, withContext: nil, timeout: 5)
        #expect(broken.log == ["Bob notConnected of "])
    }

    @Test("A session that is released leaves")
    func released() throws {
        var fake: FakeSession? = FakeSession()
        let engine = try #require(fake?.engine())
        fake = nil
        #expect(engine.calls.last == "leave")
    }
}
