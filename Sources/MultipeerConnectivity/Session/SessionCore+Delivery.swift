internal import Causeway
internal import CausewayPeers
internal import Foundation

extension SessionCore {
    /// Passes an event other than a state change to the delegate. Call this only on the session's private queue.
    func deliver(_ event: GroupEvent) {
        switch event {
        case .certificate(let peer, let certificates, let question): judge(peer, certificates, question)
        case .message(let peer, let data, let receipt):
            guard let (session, delegate) = connectedFaces(peer) else { return }
            delegate.session(session, didReceive: data, fromPeer: object(peer))
            // Keep the message's receipt until the delegate has returned. Releasing the receipt opens the peer's
            // flow-control window, so that the peer can send more.
            withExtendedLifetime(receipt) {}
        case .stream(let peer, let name, let stream):
            guard let (session, delegate) = connectedFaces(peer) else { return stream.close() }
            let input = PeerStreams.input(stream)
            delegate.session(session, didReceive: input, withName: name, fromPeer: object(peer))
        case .fileStarted(let peer, let name, let progress):
            guard let (session, delegate) = connectedFaces(peer) else { return progress.cancel() }
            delegate.session(
                session, didStartReceivingResourceWithName: name, fromPeer: object(peer), with: progress)
        case .fileFinished(let peer, let name, let result, let receipt):
            finished(peer, name, result)
            // Keep the file's receipt until the delegate has returned. Its release lets the peer send more files.
            withExtendedLifetime(receipt) {}
        // A peer may request a comparison of verification codes. Apple's interface has no such comparison, so the
        // request stays unanswered.
        case .connecting, .connected, .notConnected, .suspended, .resumed, .verification, .datagramLane, .paired,
            .unsaved,
            .refused:
            break
        }
    }

    /// Returns the session and its delegate if the peer is connected. Events for a peer are reported only between
    /// `connected` and `notConnected`.
    private func connectedFaces(_ peer: PeerIdentity) -> (owner: MCSession, delegate: any MCSessionDelegate)? {
        guard (try? connection(to: peer)) != nil else { return nil }
        return faces.pair
    }

    private func finished(_ peer: PeerIdentity, _ name: String, _ result: Result<ReceivedFile, PeerFailure>) {
        guard let (session, delegate) = connectedFaces(peer) else { return }
        let (url, error): (URL?, MCError?) =
            switch result {
            case .success(let file): (file.url, nil)
            case .failure(let failure): (nil, MCError(failure))
            }
        delegate.session(
            session, didFinishReceivingResourceWithName: name, fromPeer: object(peer), at: url, withError: error)
        // Keep the result until the delegate has returned. The result owns the received file, which is deleted when the
        // result is released.
        withExtendedLifetime(result) {}
    }

    /// Asks the delegate whether to accept a peer's certificates. Without a delegate, the peer is accepted. The
    /// delegate method's default implementation also accepts it. Malformed certificates are rejected.
    private func judge(_ peer: PeerIdentity, _ certificates: [Data], _ question: CertificateQuestion) {
        guard let (session, delegate) = faces.pair else { return question.answer(true) }
        let decoded = certificates.compactMap { SecCertificateCreateWithData(nil, $0 as CFData) }
        guard decoded.count == certificates.count else { return question.answer(false) }
        delegate.session(
            session, didReceiveCertificate: decoded.isEmpty ? nil : decoded, fromPeer: object(peer)
        ) { question.answer($0) }
    }
}
