internal import CausewayPeerProtocols
public import Foundation

/// What one user shows and the other one reads, so that both peers become paired: the key of the first peer and a secret for one use.
///
/// ``text`` has 98 to 214 letters, digits, colons, slashes and hyphens. Such a text takes the alphanumeric mode of QR codes and needs no
/// escape in a URI. It must not be sent to anyone but the other user: who reads it first becomes paired.
public struct PeerPairing: Hashable, Sendable, CustomStringConvertible {
    let content: PairingText

    init(_ content: PairingText) {
        self.content = content
    }

    /// Reads a text, in upper or lower case, with or without white space around it.
    ///
    /// - Throws: ``PeerFailure`` with `invalid` and the reason, with `version` for a text of a later version.
    public init(_ text: String) throws(PeerFailure) {
        do {
            content = try PairingText(text)
        } catch {
            switch error {
            case .foreign: throw PeerFailure(.invalid, "the text does not begin with CAUSEWAY-PEER:")
            case .version: throw PeerFailure(.version, "the pairing text has another version than 1")
            case .service: throw PeerFailure(.invalid, "the pairing text has no valid service type")
            case .content: throw PeerFailure(.invalid, "the pairing text is incomplete or has wrong characters")
            case .check: throw PeerFailure(.invalid, "the pairing text has a wrong character or is incomplete")
            }
        }
    }

    /// The text for the other user. A secret until it is used or expired.
    public var text: String { content.text }
    /// The service type, in lower case.
    public var service: String { content.service }
    /// The peer that shows the text.
    public var peer: PeerIdentity { PeerIdentity(PeerInfo(key: content.peer, name: content.name)) }
    /// After this time the peer does not accept the secret, in whole seconds.
    public var expires: Date { Date(timeIntervalSince1970: Double(content.expires)) }

    /// Whether the clock of this host shows that the peer does not accept the secret any more.
    func hasExpired(at time: Date) -> Bool { expires <= time }

    /// The peer, without the secret.
    public var description: String { "pairing with \(peer)" }
}

extension PeerSession {
    /// Lets one other peer become paired: the first that proves the secret of the result with ``pair(with:within:)``.
    ///
    /// The other peer invites this one; accept its invitation, whose ``PeerInvite/recognition`` is `paired`. Then both get
    /// ``PeerEvent/paired(_:)``. A later call replaces the secret.
    ///
    /// - Parameter lifetime: How long the secret can be used.
    /// - Throws: ``PeerFailure`` with `invalid` for a lifetime that is not positive.
    public func offerPairing(for lifetime: Duration = .seconds(300)) throws(PeerFailure) -> PeerPairing {
        guard lifetime > .zero, lifetime <= .seconds(366 * 86_400) else {
            throw PeerFailure(.invalid, "a pairing can be used for more than 0 seconds and at most a year")
        }
        var random = SystemRandomNumberGenerator()
        let secret = (0..<PairingText.secretByteCount).map { _ in UInt8.random(in: .min ... .max, using: &random) }
        let expires = PairingText.expiry(of: lifetime, from: Date().timeIntervalSince1970)
        let content = PairingText(service: service, peer: me.key, name: me.name, secret: secret, expires: expires)
        guard let content else { throw PeerFailure(.invalid, "the clock of this host is wrong") }
        group.showPairing(secret, for: lifetime)
        return PeerPairing(content)
    }

    /// Ends the use of the secret of ``offerPairing(for:)``.
    public func withdrawPairing() { group.showPairing(nil, for: .zero) }

    /// Becomes paired with the peer whose text was read: finds it, invites it, and proves the secret. The peer proves it too.
    ///
    /// - Parameters:
    ///   - pairing: From the text of the other user.
    ///   - timeout: Covers everything, also the search for the peer.
    /// - Throws: ``PeerFailure`` with `unverified` if the peer does not know the secret or does not accept it any more, with
    ///   `identityChanged` if another key is recorded for the peer: forget that one first. With `timedOut` for an expired text, `invalid`
    ///   for a text of another service or of this peer, and if the peer is a member already.
    ///
    /// Cancellation: throws `CancellationError`; the peers may still become paired.
    public func pair(with pairing: PeerPairing, within timeout: Duration = .seconds(30)) async throws {
        let peer = pairing.peer
        guard pairing.service == service.lowercased() else {
            throw PeerFailure(.invalid, "the pairing text is for the service \(pairing.service)")
        }
        guard !pairing.hasExpired(at: Date()) else { throw PeerFailure(.timedOut, "the pairing text expired") }
        guard peer.id != me.id else { throw PeerFailure(.invalid, "the pairing text is of this peer") }
        guard !peers.contains(peer) else {
            throw PeerFailure(.invalid, "the peer is a member: compare codes, or leave first")
        }
        let end = ContinuousClock.now + timeout
        guard group.expectPairing(pairing.content, for: timeout) else {
            throw PeerFailure(.excess, "16 other pairings wait for their peers")
        }
        defer { group.stopExpectingPairing(peer) }
        while true {
            do {
                try await outcomes.wait(.pairing(peer)) {
                    group.invite(
                        peer, service: service, context: nil, timeout: max(end - ContinuousClock.now, .seconds(1)))
                }
                return
            } catch let failure as PeerFailure where failure.code == .network {
                // Discovery has not found the peer yet.
                guard ContinuousClock.now < end else {
                    throw PeerFailure(.timedOut, "the peer was not found: \(failure.message)")
                }
                try await Task.sleep(for: .milliseconds(200))
            }
        }
    }

    /// What is known of a peer's key.
    public func recognition(of peer: PeerIdentity) -> PeerRecognition { group.recognition(of: peer) }

    /// Forgets the key of a peer, also on the disk: the next key with its number is new. Has no effect on a member.
    public func forget(_ peer: PeerIdentity) { group.forget(peer) }
}
