internal import CausewayPeerProtocols
public import Foundation

/// A pairing text that one user shows and the other user reads, so that both peers become paired. It contains the first
/// peer's key and a one-time secret.
///
/// ``text`` has 98 to 214 letters, digits, colons, slashes and hyphens. Such a text fits the alphanumeric mode of QR codes and needs no
/// escape in a URI. Send it only to the other user: the first reader becomes paired.
public struct PeerPairing: Hashable, Sendable, CustomStringConvertible {
    let content: PairingText

    init(_ content: PairingText) {
        self.content = content
    }

    /// Parses a text, in upper or lower case, optionally surrounded by white space.
    ///
    /// - Throws: ``PeerFailure`` with `invalid` and the reason, with `version` for a text from a later version.
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

    /// The text for the other user. Keep it secret until it is used or expired.
    public var text: String { content.text }
    /// The service type, in lower case.
    public var service: String { content.service }
    /// The peer showing the text.
    public var peer: PeerIdentity { PeerIdentity(PeerInfo(key: content.peer, name: content.name)) }
    /// The date from which the peer rejects the secret, in whole seconds.
    public var expires: Date { Date(timeIntervalSince1970: Double(content.expires)) }

    /// Whether the secret has expired according to this host's clock.
    func hasExpired(at time: Date) -> Bool { expires <= time }

    /// The peer, without the secret.
    public var description: String { "pairing with \(peer)" }
}

extension PeerSession {
    /// Lets one other peer become paired. This is the first peer that proves the returned secret with
    /// ``pair(with:within:)``.
    ///
    /// The other peer invites this peer. Accept its invitation, whose ``PeerInvite/recognition`` is `paired`. Then both
    /// peers get ``PeerEvent/paired(_:)``. A later call of this method replaces the secret.
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

    /// Invalidates the secret from ``offerPairing(for:)``.
    public func withdrawPairing() { group.showPairing(nil, for: .zero) }

    /// Becomes paired with the peer whose text was read: finds it, invites it, and proves the secret. The peer proves
    /// the secret too.
    ///
    /// - Parameters:
    ///   - pairing: The pairing from the other user's text.
    ///   - timeout: The time limit for the whole pairing, including the search for the peer.
    /// - Throws: ``PeerFailure`` with `unverified` if the peer does not know the secret or no longer accepts it, with
    ///   `identityChanged` if another key is recorded for the peer (remove that key with `forget(_:)` first), with
    ///   `timedOut` if the text expired or the peer was not found, with `excess` if 16 other pairings wait, with
    ///   `invalid` if the peer is already a member, or if the text is for another service or from this peer.
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
        let end = ContinuousClock.now + PeerTimes.bounded(timeout)
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
                // The peer was not found yet, so try again after a pause.
                guard ContinuousClock.now < end else {
                    throw PeerFailure(.timedOut, "the peer was not found: \(failure.message)")
                }
                try await Task.sleep(for: .milliseconds(200))
            }
        }
    }

    /// How a peer's key is recognized.
    public func recognition(of peer: PeerIdentity) -> PeerRecognition { group.recognition(of: peer) }

    /// Removes a peer's recorded key from memory and from the disk. The peer is then unknown, with this key or with
    /// another key. If the peer is a member of the session, it stays connected.
    public func forget(_ peer: PeerIdentity) { group.forget(peer) }
}
