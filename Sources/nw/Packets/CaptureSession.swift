import CausewayCapture
import CausewayPackets
import CausewaySystem

/// One run of `nw capture`, on its own thread.
final class CaptureSession {
    private var capture: PacketCapture
    private var shown: PacketOutput
    private let command: CaptureCommand

    init(_ command: CaptureCommand) throws {
        self.command = command
        var options = CaptureOptions(interface: command.interface == "any" ? nil : command.interface)
        options.filter = command.filter.joined(separator: " ")
        options.snapLength = command.snapLength
        options.isPromiscuous = !command.onlyOwn
        options.isImmediate = command.immediate
        options.ringByteCount = command.ringSize * 1024
        do { capture = try PacketCapture(options) } catch { throw CommandFailure("\(error.description)") }
        shown = try PacketOutput(command.output, isLive: true, rotation: command.rotation)
    }

    func run(until stop: StopFlag) throws {
        if command.output.store != nil || command.output.json == false {
            printError("nw: capture: listening on \(command.interface), link type \(capture.linkType.name)")
        }
        // The statistics are printed even if the capture fails.
        let outcome = Result {
            try shown.begin(capture.linkType)
            try take(until: stop)
        }
        let statistics = capture.statistics()
        let end = Result { try shown.finish(capture.linkType) }
        let lost =
            shown.droppedCount > 0 ? ", \(shown.droppedCount) not stored because the disk is too slow or full" : ""
        printError(
            "\(shown.count) packets captured, \(statistics.seen) seen by the filter, \(statistics.droppedByKernel) dropped by the kernel\(lost)"
        )
        try outcome.get()
        try end.get()
    }

    /// How long to wait for captured packets that the kernel has not delivered yet, in milliseconds. On an idle host,
    /// the kernel delivers them after at most 10 ms.
    private static let handoverMilliseconds: CInt = 60
    private static let longestDrain = Duration.milliseconds(500)

    private func take(until stop: StopFlag) throws {
        var goesOn = true
        while goesOn, !stop.isSet, !shown.isFull { goesOn = try take(waitingMilliseconds: 100, before: nil) }
        guard goesOn, !shown.isFull else { return }
        // The kernel may still hold packets that arrived before the interrupt. They belong to the capture too, so read
        // them.
        let (end, deadline) = (time(nil), ContinuousClock.now + Self.longestDrain)
        var known = -1
        while goesOn, known != shown.count, ContinuousClock.now < deadline, !shown.isFull {
            known = shown.count
            goesOn = try take(waitingMilliseconds: Self.handoverMilliseconds, before: Int64(end) + 1)
        }
    }

    /// Reads the packets that have arrived. Returns `true` if the capture continues.
    private func take(waitingMilliseconds: CInt, before end: Int64?) throws -> Bool {
        let count = command.output.count ?? .max
        do {
            let goesOn = try capture.take(waitingMilliseconds: waitingMilliseconds) { packet, bytes in
                if let end, packet.time.seconds > end { return false }
                try shown.add(packet, bytes)
                return shown.count < count && !shown.isFull
            }
            try shown.endBatch()
            return goesOn
        } catch let error as CaptureError { throw CommandFailure("\(error.description)") }
    }
}
