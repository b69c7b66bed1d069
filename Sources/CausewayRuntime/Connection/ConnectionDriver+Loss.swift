internal import CausewayProtocols
internal import CausewaySystem
package import CausewayTypes

/// A connection whose transport broke. Content that arrived before is delivered first, then the failure.
extension ConnectionDriver {
    package func flowFailed(_ error: Failure) {
        dropAssociation()
        guard let channel else { return transition { progress in progress.lifecycle.broke(error) } }
        channel.lose(error) { reason in self.transition { progress in progress.lifecycle.broke(reason) } }
        awaitReader(error)
    }

    package func flowEnded() {
        if channel == nil { ended() }
    }

    /// Nothing can move any more, in either direction: the connection is of no more use than one that broke. Receives go on to give the end.
    /// Where tasks use it, they learn of the end by themselves, and their scope ends it.
    func ended() {
        transition { progress in
            progress.delivery == nil ? [] : progress.lifecycle.lost(Failure(errno: Errno.notConnected))
        }
    }

    /// Whether it is ready, or over with a transport that is still there.
    package var isEstablished: Bool {
        switch state {
        case .ready: true
        case .failed: flow.withDescriptor { _ in true } ?? false
        case .setup, .preparing, .waiting, .cancelled: false
        }
    }

    package func flowLost(_ error: Failure) { awaitReader(error) }

    /// How long a program may leave content alone before the connection fails. Many do nothing more with
    /// one that has; but those that never receive must learn of it too.
    private static let readerPatience = Duration.seconds(5)

    private func awaitReader(_ error: Failure) {
        let isNews = progress.withLock { progress -> Bool in
            guard !progress.lifecycle.isEnding else { return false }
            if progress.establishments.isEmpty { progress.establishments = [Establishment()] }
            defer { progress.establishments[0].isLost = true }
            return !progress.establishments[0].isLost
        }
        if isNews { tellLoss(error, unlessReadBeyond: receivedByteCount) }
    }

    private var receivedByteCount: UInt64 { (channel?.transferred ?? flow.transferred).received }

    private func tellLoss(_ error: Failure, unlessReadBeyond count: UInt64) {
        _ = flow.loop.schedule(after: Self.readerPatience) { [weak self] in
            guard let self, case .ready = state else { return }
            let countNow = receivedByteCount
            guard countNow == count else { return tellLoss(error, unlessReadBeyond: countNow) }
            transition { progress in progress.lifecycle.lost(error) }
        }
    }
}
