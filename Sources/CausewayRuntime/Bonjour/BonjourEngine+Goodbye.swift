package import CausewaySystem
internal import Dispatch

extension BonjourEngine {
    /// The maximum time that process exit waits until all goodbye packets are sent. Sending is usually fast, but the
    /// loop's thread may have to wait for the CPU.
    private static let farewellPatience: DispatchTimeInterval = .seconds(2)

    /// Sends goodbyes when the process exits. Without goodbyes, other hosts would keep the services in their caches for
    /// up to 75 minutes.
    static let exitGoodbyes: Void = System.atExit { BonjourEngine.shared.farewell() }

    /// Sends goodbyes for all services, including those that were just withdrawn. Returns when they are sent, and calls
    /// no handlers.
    ///
    /// Blocks the calling thread for at most two seconds. Does not block if the caller is on the engine's loop.
    package func farewell() {
        guard !loop.isCurrent else { return leave() }
        let done = DispatchSemaphore(value: 0)
        loop.execute {
            self.leave()
            done.signal()
        }
        _ = done.wait(timeout: .now() + Self.farewellPatience)
    }

    private static let endings = LockedValue<Set<CInt>>([])

    /// Sends goodbyes when a signal is about to end the process, then lets the signal end the process as usual.
    ///
    /// - Throws: `EMFILE` or `ENFILE` if too few descriptors are free. The signal then ends the process at once.
    package static func farewell(before number: CInt) throws(SystemError) {
        guard !endings.withLock({ $0.contains(number) }) else { return }
        try System.checkRoomForSource()
        guard endings.withLock({ $0.insert(number).inserted }) else { return }
        System.ignore(number)
        let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
        source.setEventHandler {
            // The handler retains the signal source. Otherwise, the source would be released.
            withExtendedLifetime(source) { shared.farewell() }
            System.end(by: number)
        }
        source.activate()
    }

    private func leave() {
        let advertised = state.value.advertising.keys
        (state.value.advertising, state.value.losses) = ([:], [:])
        for link in state.value.links.values {
            for id in advertised { link.machine.unregister(id, at: System.now) }
            for case .send(let bytes) in link.machine.takeActions() { link.send(bytes) }
            link.flush(all: true)
        }
    }
}
