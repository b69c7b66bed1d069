import CausewayPackets
import CausewaySystem

/// Runs a survey over a wire. Confined to one thread, which it blocks.
final class SurveyLoop {
    private let clock = ContinuousClock()
    private let start: ContinuousClock.Instant
    /// What is about to be sent, and what became of it.
    private var probes: [PortSurvey.Probe] = []
    private var outcomes: [(PortSurvey.Probe, ScanSending)] = []

    /// Probes that are sent before answers are looked for.
    private static let maximumAtOnce = 64

    init() { start = clock.now }

    /// Goes on until the survey is finished, the mark is set, or `heard` says that enough is known.
    ///
    /// - Parameters:
    ///   - heard: Gets every answer. Returns whether to go on.
    ///   - progress: Gets the number of probes whose fate is known, that of all, and the rate of sending.
    func run(
        _ scan: inout PortSurvey, _ wire: any ScanWire, until stop: StopMark,
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

    /// Sends what may be sent, some probes at once. Returns for how many milliseconds nothing else is to be done, `nil` at the end.
    private func sendSome(
        _ scan: inout PortSurvey, _ wire: any ScanWire, _ heard: (PortSurvey.Probe, ScanFinding.Reason) -> Bool,
        _ goesOn: inout Bool
    ) -> CInt? {
        // One time for all of them: the clock would cost more than some of the probes' own work.
        let now = clock.now - start
        var pause: CInt = 0
        collecting: while probes.count < Self.maximumAtOnce {
            switch scan.next(at: now) {
            case .finished: return nil
            case .wait(let until):
                // Never longer, so that an interrupt is seen soon.
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

    /// Tells what became of probes. Returns whether there was room for all of them.
    private func tell(
        _ scan: inout PortSurvey, _ heard: (PortSurvey.Probe, ScanFinding.Reason) -> Bool, _ goesOn: inout Bool
    ) -> Bool {
        guard !outcomes.isEmpty else { return true }
        // Answers have come since the probes left.
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
