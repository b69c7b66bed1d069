internal import CausewaySystem

/// Reports that the machine may have slept. The watch waits on the real-time clock. The kernel ends this wait when the
/// clock jumps, as it does after sleep. Until then, the watch does not wake the process.
final class ResumptionWatch: ReadinessHandler {
    private let loop: any EventLoop
    private let descriptor: CInt
    private let registration: LoopBound<Registration?>
    private let handler: @Sendable () -> Void

    /// Returns `nil` if the kernel cannot report changes of the clock.
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
