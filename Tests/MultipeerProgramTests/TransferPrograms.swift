import Foundation
import MultipeerConnectivity
import Testing

/// Asynchronous versions of the methods with completion handlers.
extension MCSession {
    func sendFile(_ url: URL, named name: String, to peer: MCPeerID) async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            sendResource(at: url, withName: name, toPeer: peer) { error in
                if let error { continuation.resume(throwing: error) } else { continuation.resume() }
            }
        }
    }
}

/// Sends files, and checks regularly how much of each file was sent.
final class FileDrop {
    private let session: MCSession
    private(set) var transfers: [(name: String, progress: Progress)] = []
    private(set) var failures: [String: MCError.Code] = [:]

    init(_ session: MCSession) { self.session = session }

    func send(_ url: URL, to peers: [MCPeerID]) {
        let name = url.lastPathComponent
        for peer in peers {
            let progress = session.sendResource(at: url, withName: name, toPeer: peer) { [weak self] error in
                if let error = error as? MCError { self?.failures[name] = error.code }
            }
            if let progress { transfers.append((name, progress)) }
        }
    }

    var report: [String] {
        transfers.map { "\($0.name) \(Int($0.progress.fractionCompleted * 100)) %" }
    }

    func cancelAll() { for transfer in transfers { transfer.progress.cancel() } }
}

/// Writes content to a stream, on a thread with a run loop.
final class StreamSender: NSObject, StreamDelegate {
    private let output: OutputStream
    private var waiting: [UInt8]

    init(_ output: OutputStream, content: [UInt8]) {
        self.output = output
        waiting = content
        super.init()
        output.delegate = self
        output.schedule(in: RunLoop.current, forMode: .default)
        output.open()
    }

    func stream(_ aStream: Stream, handle eventCode: Stream.Event) {
        switch eventCode {
        case .hasSpaceAvailable:
            guard !waiting.isEmpty else { return output.close() }
            let count = output.write(waiting, maxLength: waiting.count)
            if count > 0 { waiting.removeFirst(count) }
        case .errorOccurred, .endEncountered: output.close()
        default: break
        }
    }
}

/// Fake MultipeerConnectivity classes, as an application's tests use them.
final class SessionDouble: MCSession {
    var peers: [MCPeerID] = []
    private(set) var sent: [(Data, [MCPeerID], MCSessionSendDataMode)] = []
    private(set) var isDisconnected = false

    override var connectedPeers: [MCPeerID] { peers }
    override func send(_ data: Data, toPeers peerIDs: [MCPeerID], with mode: MCSessionSendDataMode) throws {
        sent.append((data, peerIDs, mode))
    }
    override func disconnect() { isDisconnected = true }
    override func startStream(withName streamName: String, toPeer peerID: MCPeerID) throws -> OutputStream {
        OutputStream.toMemory()
    }
}

final class BrowserDouble: MCNearbyServiceBrowser {
    private(set) var invitations: [(MCPeerID, TimeInterval)] = []
    override func startBrowsingForPeers() {
        delegate?.browser(self, foundPeer: MCPeerID(displayName: "double"), withDiscoveryInfo: nil)
    }
    override func invitePeer(
        _ peerID: MCPeerID, to session: MCSession, withContext context: Data?, timeout: TimeInterval
    ) {
        invitations.append((peerID, timeout))
    }
}

/// A turn-based game. Players take turns in the order of their names.
struct TurnGame {
    enum Message: Codable, Equatable {
        case move(column: Int, row: Int)
        case resign
    }

    let session: MCSession

    var players: [MCPeerID] {
        (session.connectedPeers + [session.myPeerID]).sorted { $0.displayName < $1.displayName }
    }

    func isMyTurn(after moves: Int) -> Bool { players[moves % players.count] == session.myPeerID }

    func play(_ message: Message) throws {
        try session.send(try JSONEncoder().encode(message), toPeers: session.connectedPeers, with: .reliable)
    }
}

@Suite("Transfers, doubles and games as written for MultipeerConnectivity, Swift 6")
struct TransferPrograms {
    private let session = MCSession(peer: MCPeerID(displayName: "Ann"))
    private let other = MCPeerID(displayName: "Bob")

    @Test("A file cannot be sent to a peer that is not connected")
    func file() async throws {
        let url = URL(fileURLWithPath: "/etc/hostname")
        await #expect(throws: MCError.self) {
            try await session.sendFile(url, named: "hostname", to: other)
        }
        let drop = FileDrop(session)
        drop.send(url, to: [other])
        #expect(drop.report.isEmpty)
        drop.cancelAll()
    }

    @Test("A stream cannot be opened to a peer that is not connected")
    func stream() {
        do {
            _ = try session.startStream(withName: "log", toPeer: other)
            Issue.record("a stream was opened")
        } catch MCError.notConnected {
            // The test expects this error.
        } catch {
            Issue.record(error)
        }
    }

    @Test("A stream is written on a thread with a run loop")
    func sender() {
        let double = SessionDouble(peer: MCPeerID(displayName: "Ann"))
        let output = try? double.startStream(withName: "log", toPeer: other)
        let sender = output.map { StreamSender($0, content: [1, 2, 3]) }
        #expect(sender != nil)
    }

    @Test("Subclasses replace the network")
    func doubles() throws {
        let double = SessionDouble(
            peer: MCPeerID(displayName: "Ann"), securityIdentity: nil, encryptionPreference: .none)
        double.peers = [other]
        let game = TurnGame(session: double)
        #expect(game.isMyTurn(after: 0) && !game.isMyTurn(after: 1))
        try game.play(.move(column: 1, row: 2))
        #expect(double.sent.count == 1 && double.sent[0].1 == [other] && double.sent[0].2 == .reliable)
        let decoded = try JSONDecoder().decode(TurnGame.Message.self, from: double.sent[0].0)
        #expect(decoded == .move(column: 1, row: 2))
        let browser = BrowserDouble(peer: double.myPeerID, serviceType: "cw-double")
        browser.invitePeer(other, to: double, withContext: nil, timeout: 10)
        #expect(browser.invitations.map(\.0) == [other])
        double.disconnect()
        #expect(double.isDisconnected)
    }
}
