import CausewayImageFormats
import Testing

@Suite("Admission of image jobs")
struct AdmissionLineTests {
    /// Returns a queue that admits one job at a time. One job runs, and all other jobs wait.
    private func line(_ waiting: [(AdmissionLine.ID, ImagePriority)]) -> AdmissionLine {
        var line = AdmissionLine(limit: 1)
        let runs = ([(0, .normal)] + waiting).map { line.arrived($0.0, $0.1) }
        #expect(runs == [true] + waiting.map { _ in false })
        return line
    }

    private func order(_ line: AdmissionLine) -> [AdmissionLine.ID] {
        var line = line
        return Array(sequence(state: ()) { _ in line.ended() })
    }

    @Test("The most urgent job runs first, equal ones in arrival order")
    func urgency() {
        #expect(order(line([(1, .low), (2, .normal), (3, .immediate), (4, .normal)])) == [3, 2, 4, 1])
    }

    @Test("A job that returns to its first priority queues behind those that kept theirs")
    func returning() {
        var line = line([(1, .low), (2, .low), (3, .low)])
        line.prioritize(1, .high)
        line.prioritize(1, .low)
        #expect(order(line) == [2, 3, 1])
    }

    @Test("A job whose priority changes again and again takes no memory")
    func toggling() {
        var line = line([(1, .low), (2, .low)])
        for round in 0..<100_000 { line.prioritize(1, round.isMultiple(of: 2) ? .high : .low) }
        #expect(line.turnsKept < 300)
        #expect(line.waitingCount == 2)
        #expect(order(line) == [2, 1])
    }

    @Test("A cancelled job does not run, and one that runs cannot be cancelled")
    func cancelling() {
        var line = line([(1, .low), (2, .low)])
        #expect([1, 1, 0].map { line.abandoned($0) } == [true, false, false])
        #expect(order(line) == [2])
    }
}
