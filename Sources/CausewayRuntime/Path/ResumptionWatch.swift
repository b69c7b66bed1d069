internal import CausewaySystem

/// Tells when the machine may have slept: the kernel ends a wait for a time of the day when that clock jumps, as it does on waking.
/// Nothing wakes the process before.
///
/// Confined to its loop.
final class ResumptionWatch: ReadinessHandler {
    private let loop: any EventLoop
    private let descriptor: CInt
    private let registration: LoopBound<Registration?>
    private let handler: @Sendable () -> Void

    /// `nil` where the kernel has no such clock.
    init?(on loop: any EventLoop, _ handler: @escaping @Sendable () -> Void) {
        guard let clock = try? ClockWatch.open() else { return nil }
        self.loop = loop
        self.handler = handler
        registration = LoopBound(nil, to: loop)
        descriptor = clock.release()
        guard let registered = try? loop.register(descriptor, for: .readable, self) else {
            Descriptor(adopting: descriptor).close()
            return nil
        }
        registration.value = registered
    }

    func ready(for readiness: Readiness) {
        guard let registration = registration.value else { return }
        let hasJumped = ClockWatch.hasJumped(descriptor)
        loop.await(.readable, of: registration)
        if hasJumped { handler() }
    }

    func stop() {
        if let registration = registration.value.take() {
            loop.close(registration, Descriptor(adopting: descriptor))
        }
    }
}
