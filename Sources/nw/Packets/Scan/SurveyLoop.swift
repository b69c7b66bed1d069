import CausewayPackets
import CausewaySystem

/// Runs a port survey, sending its probes with a `ScanWire`. Blocks the calling thread. Confined to one thread.
final class SurveyLoop {
    private let clock = ContinuousClock()
    private let start: ContinuousClock.Instant
    /// The next probes to send, and the result for each probe that was sent.
    private var probes: [PortSurvey.Probe] = []
    private var outcomes: [(PortSurvey.Probe, ScanSending)] = []

    /// Maximum number of probes to send before the loop reads answers.
    private static let maximumAtOnce = 64

    init() { start = clock.now }

    /// Runs until the survey is finished, the stop flag is set, or `heard` returns false.
    ///
    /// - Parameters:
    ///   - heard: Called with every answer. Returns whether to continue.
    ///   - progress: Called with the number of finished probes, the total number, and the send rate.
    func run(
        _ scan: inout PortSurvey, _ wire: any ScanWire, until stop: StopFlag,
        heard: (PortSurvey.Probe, ScanFinding.Reason) -> Bool = { _, _ in true },
        progress: (Int, Int, Double) -> Void = { _, _, _ in }
    ) {
        var answers: [ScanAnswer] = []
        var goesOn = true
        while goesOn, !stop.isSet, let pause = sendSome(&scan, wire, heard, &goesOn) {
            wire.collect(into: &answers, milliseconds: goesOn ? pause : 0)
            let now = clock.now - start
            for answer in answers {
                scan.answered(answer.probe, answer.reason, at: now)
                goesOn = heard(answer.probe, answer.reason) && goesOn
            }
            answers.removeAll(keepingCapacity: true)
            for probe in scan.givenUp { wire.forget(probe) }
            scan.clearGivenUp()
            progress(scan.settled, scan.probeCount, scan.rate)
        }
    }

    /// Sends due probes. Returns the number of milliseconds until the next probe is due; `nil` if the survey is
    /// finished.
    private func sendSome(
        _ scan: inout PortSurvey, _ wire: any ScanWire, _ heard: (PortSurvey.Probe, ScanFinding.Reason) -> Bool,
        _ goesOn: inout Bool
    ) -> CInt? {
        // Read the clock once for all due probes. Reading it for each probe would cost more than the probe itself.
        let now = clock.now - start
        var pause: CInt = 0
        collecting: while probes.count < Self.maximumAtOnce {
            switch scan.next(at: now) {
            case .finished: return nil
            case .wait(let until):
                // Wait for at most 100 ms at a time, to react quickly to an interrupt.
                pause = CInt(max(1, min(100, Int((until - now) / .milliseconds(1)))))
                break collecting
            case .send(let probe): probes.append(probe)
            }
        }
        outcomes.removeAll(keepingCapacity: true)
        wire.send(probes) { outcomes.append(($0, $1)) }
        probes.removeAll(keepingCapacity: true)
        return tell(&scan, heard, &goesOn) ? pause : 1
    }

    /// Reports the sent probes to the survey. Returns whether every probe could be sent.
    private func tell(
        _ scan: inout PortSurvey, _ heard: (PortSurvey.Probe, ScanFinding.Reason) -> Bool, _ goesOn: inout Bool
    ) -> Bool {
        guard !outcomes.isEmpty else { return true }
        // Read the clock again, because answers may have arrived after the probes were sent.
        let now = clock.now - start
        var hasRoom = true
        for (probe, sending) in outcomes {
            switch sending {
            case .sent: break
            case .answered(let reason):
                scan.answered(probe, reason, at: now)
                goesOn = heard(probe, reason) && goesOn
            case .busy:
                scan.refused(probe, at: now)
                hasRoom = false
            }
        }
        return hasRoom
    }
}
