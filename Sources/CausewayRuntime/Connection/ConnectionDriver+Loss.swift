internal import CausewayProtocols
internal import CausewaySystem
package import CausewayTypes

/// Ends a connection after its transport has failed. The program first receives the content that had arrived. After
/// that, it receives the failure.
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

    /// Fails a connection after both of its directions have ended. Later receive calls still return the end of the
    /// stream.
    ///
    /// A connection that only tasks use does not fail, because it has no callbacks. Its tasks receive the end of the
    /// stream. The scope in which they use the connection closes it.
    func ended() {
        transition { progress in
            progress.delivery == nil ? [] : progress.lifecycle.lost(Failure(errno: Errno.notConnected))
        }
    }

    /// Whether the connection is ready, or has failed and still has its transport.
    package var isEstablished: Bool {
        switch state {
        case .ready: true
        case .failed: flow.withDescriptor { _ in true } ?? false
        case .setup, .preparing, .waiting, .cancelled: false
        }
    }

    package func flowLost(_ error: Failure) { awaitReader(error) }

    /// How long a connection with a failed transport waits for the program to receive more of the remaining content. If
    /// the program receives nothing during this time, the connection fails.
    ///
    /// Many programs stop receiving when a connection fails. So the failure is delayed while the program continues to
    /// receive. The delay is limited, so that a program that receives nothing also gets the failure.
    private static let readerPatience = Duration.seconds(5)

    private func awaitReader(_ error: Failure) {
        let isFirstLoss = progress.withLock { progress -> Bool in
            guard !progress.lifecycle.isEnding else { return false }
            let wasLost = progress.establishments.first?.isLost ?? false
            progress.record { $0.isLost = true }
            return !wasLost
        }
        if isFirstLoss { tellLoss(error, unlessReadBeyond: receivedByteCount) }
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
