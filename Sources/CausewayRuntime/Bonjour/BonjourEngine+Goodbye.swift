internal import CausewaySystem
internal import Dispatch

extension BonjourEngine {
    /// How long the end of the process waits for the goodbyes at most. They take a moment, unless the machine is so busy that the
    /// loop's thread does not get its turn.
    private static let farewellPatience: DispatchTimeInterval = .seconds(2)

    /// A process that ends without withdrawing its services would be looked for by others for up to 75 minutes.
    static let exitGoodbyes: Void = System.atExit { BonjourEngine.shared.farewell() }

    /// Says goodbye for everything that is advertised, or was withdrawn just now, and returns when that is out. Handlers hear nothing.
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

    /// From now on a signal that ends the process lets it say goodbye first. The process ends by the signal all the same.
    package static func farewell(before number: CInt) {
        guard endings.withLock({ $0.insert(number).inserted }) else { return }
        System.ignore(number)
        let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
        source.setEventHandler {
            // The handler keeps its source.
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
