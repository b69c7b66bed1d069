import Foundation
import MultipeerConnectivity

/// One peer of the test: its session, its advertiser, its browser, and the events that it reports.
final class Member: NSObject {
    let peer: MCPeerID
    let session: MCSession
    let transfers: Transfers
    let numbers = Numbers()
    private var advertiser: MCNearbyServiceAdvertiser?
    private var browser: MCNearbyServiceBrowser?
    private let sending = DispatchQueue(label: "sending")
    /// How invitations are answered after the command `unknown`.
    private var conduct = ""

    init(_ name: String, _ directory: URL) {
        peer = MCPeerID(displayName: name)
        session = MCSession(peer: peer, securityIdentity: nil, encryptionPreference: .required)
        transfers = Transfers(directory)
        super.init()
        session.delegate = self
    }

    func start(_ service: String, advertises: Bool = true) {
        let advertiser = MCNearbyServiceAdvertiser(peer: peer, discoveryInfo: ["v": "1"], serviceType: service)
        let browser = MCNearbyServiceBrowser(peer: peer, serviceType: service)
        (self.advertiser, self.browser) = (advertiser, browser)
        advertiser.delegate = self
        browser.delegate = self
        if advertises { advertiser.startAdvertisingPeer() }
        browser.startBrowsingForPeers()
    }

    /// Performs a command that was read from standard input.
    ///
    /// - `say TEXT`: sends a reliable message to all peers.
    /// - `whisper TEXT`: sends an unreliable message to all peers.
    /// - `numbers COUNT SIZE`: sends numbered messages to all peers. The receivers check their order.
    /// - `file PATH [cancel]`: sends a file to all peers. With `cancel`, cancels it as soon as it progresses.
    /// - `refuse`: cancels the next file that arrives.
    /// - `streams COUNT SIZE`: opens a stream to each peer, and writes SIZE bytes to each.
    /// - `unknown never`: does not answer peers named "Unknown...".
    /// - `unknown late`: declines them after 3 s. Accepts other peers after 1 s.
    /// - `unknown refuse`: declines them.
    /// - `leave`: disconnects.
    func perform(_ words: [String]) {
        let peers = session.connectedPeers
        switch (words.first ?? "", words.dropFirst().first) {
        case ("say", let text?): send(Data(text.utf8), to: peers, .reliable)
        case ("whisper", let text?): send(Data(text.utf8), to: peers, .unreliable)
        case ("numbers", let count?):
            let (count, size) = (Int(count) ?? 0, Int(words.last ?? "") ?? 0)
            sending.async { [self] in
                let all = session.connectedPeers
                for number in 0..<count { send(Numbers.message(number, of: count, size), to: all, .reliable) }
                say("queued \(count) \(clock())")
            }
        case ("file", let path?):
            for peer in peers { transfers.send(path, to: peer, session, cancels: words.last == "cancel") }
        case ("refuse", _): transfers.refusesNext = true
        case ("streams", let count?):
            for peer in peers {
                for number in 0..<(Int(count) ?? 0) {
                    transfers.write(Int(words.last ?? "") ?? 0, "s\(number)", to: peer, session)
                }
            }
        case ("unknown", let word?):
            conduct = word
            say("unknown \(word)")
        case ("leave", _): session.disconnect()
        default: say("what is '\(words.joined(separator: " "))'?")
        }
    }

    private func send(_ data: Data, to peers: [MCPeerID], _ mode: MCSessionSendDataMode) {
        for _ in 0..<10_000 {
            do {
                return try session.send(data, toPeers: peers, with: mode)
            } catch MCError.unavailable {
                usleep(1_000)
            } catch {
                return say("error \(error.localizedDescription)")
            }
        }
    }
}

extension Member: MCSessionDelegate {
    func session(_ session: MCSession, peer peerID: MCPeerID, didChange state: MCSessionState) {
        let names = [MCSessionState.notConnected: "lost", .connecting: "connecting", .connected: "connected"]
        if state == .connected { numbers.begin(peerID) }
        say("\(names[state] ?? "?") \(peerID.displayName) \(clock())")
    }

    func session(_ session: MCSession, didReceive data: Data, fromPeer peerID: MCPeerID) {
        if let report = numbers.received(data, peerID) {
            if !report.isEmpty { say(report) }
        } else {
            say("said \(peerID.displayName) \(String(decoding: data, as: UTF8.self))")
        }
    }

    func session(
        _ session: MCSession, didReceive stream: InputStream, withName streamName: String, fromPeer peerID: MCPeerID
    ) { transfers.read(stream, streamName, from: peerID) }

    func session(
        _ session: MCSession, didStartReceivingResourceWithName resourceName: String, fromPeer peerID: MCPeerID,
        with progress: Progress
    ) { transfers.started(resourceName, from: peerID, progress) }

    func session(
        _ session: MCSession, didFinishReceivingResourceWithName resourceName: String, fromPeer peerID: MCPeerID,
        at localURL: URL?, withError error: (any Error)?
    ) { transfers.finished(resourceName, from: peerID, localURL, error) }
}

extension Member: MCNearbyServiceAdvertiserDelegate, MCNearbyServiceBrowserDelegate {
    func advertiser(
        _ advertiser: MCNearbyServiceAdvertiser, didReceiveInvitationFromPeer peerID: MCPeerID,
        withContext context: Data?, invitationHandler: @escaping (Bool, MCSession?) -> Void
    ) {
        say("invited \(peerID.displayName) \(clock())")
        let isUnknown = peerID.displayName.hasPrefix("Unknown")
        switch conduct {
        case "never" where isUnknown: break
        case "late":
            DispatchQueue.global().asyncAfter(deadline: .now() + (isUnknown ? 3 : 1)) { [self] in
                invitationHandler(!isUnknown, isUnknown ? nil : session)
            }
        default: invitationHandler(conduct.isEmpty || !isUnknown, session)
        }
    }

    func browser(
        _ browser: MCNearbyServiceBrowser, foundPeer peerID: MCPeerID, withDiscoveryInfo info: [String: String]?
    ) {
        say("found \(peerID.displayName) \(clock())")
        guard peer.displayName < peerID.displayName else { return }
        browser.invitePeer(peerID, to: session, withContext: Data("hello".utf8), timeout: 10)
    }

    func browser(_ browser: MCNearbyServiceBrowser, lostPeer peerID: MCPeerID) {
        say("gone \(peerID.displayName) \(clock())")
    }
}

/// Checks that numbered messages arrive once and in order.
final class Numbers {
    private static let mark: UInt8 = 0xA5
    private var next: [MCPeerID: Int] = [:]
    private let lock = NSLock()

    static func message(_ number: Int, of count: Int, _ size: Int) -> Data {
        let head = [mark] + [number, count].flatMap { value in (0..<4).map { UInt8(value >> (24 - 8 * $0) & 0xFF) } }
        return Data(head) + Data(count: max(0, size - head.count))
    }

    func begin(_ peer: MCPeerID) { lock.withLock { next[peer] = 0 } }

    /// Checks a numbered message, and returns the line to print: empty if there is nothing to report. Returns `nil` if
    /// the message has no number.
    func received(_ data: Data, _ peer: MCPeerID) -> String? {
        guard data.count >= 9, data.first == Self.mark else { return nil }
        let values = [1, 5].map { start in data[start..<(start + 4)].reduce(0) { $0 << 8 | Int($1) } }
        return lock.withLock {
            let wanted = next[peer] ?? 0
            next[peer] = values[0] + 1 == values[1] ? 0 : values[0] + 1
            if values[0] != wanted { return "fault \(peer.displayName): \(values[0]) instead of \(wanted)" }
            return values[0] + 1 == values[1] ? "all \(peer.displayName) \(values[1]) \(clock())" : ""
        }
    }
}
