import CausewayTestKit
import Testing

@Suite("Simulated link")
struct SimulatedLinkTests {
    static func drain(_ link: inout SimulatedLink) -> [SimulatedLink.Arrival] {
        var arrivals: [SimulatedLink.Arrival] = []
        while let time = link.nextArrival, let arrival = link.popArrival(notPast: time) { arrivals.append(arrival) }
        return arrivals
    }

    static func sendHundred(_ link: inout SimulatedLink) {
        for number in 0..<100 { link.send([UInt8(number)], to: number % 2, at: .milliseconds(number)) }
    }

    @Test("A perfect link only delays")
    func perfect() {
        var link = SimulatedLink(seed: 1)
        link.send([1], to: 4, at: .milliseconds(5))
        #expect(link.nextArrival == .milliseconds(15) && link.inFlightCount == 1)
        #expect(link.popArrival(notPast: .milliseconds(14)) == nil)
        let arrival = link.popArrival(notPast: .milliseconds(20))
        #expect(arrival?.time == .milliseconds(15) && arrival?.peer == 4 && arrival?.datagram == [1])
        #expect(link.nextArrival == nil && link.popArrival(notPast: .seconds(9)) == nil)
    }

    @Test("Loses and duplicates at the given rates, and counts correctly", arguments: [0, 0.3, 1])
    func countsAddUp(_ probability: Double) {
        var link = SimulatedLink(seed: 3, conditions: .init(lossProbability: probability, duplicationProbability: 0.5))
        Self.sendHundred(&link)
        let arrivals = Self.drain(&link)
        #expect(arrivals.count == 100 - link.lostCount + link.duplicatedCount)
        switch probability {
        case 0: #expect(link.lostCount == 0 && (30...70).contains(link.duplicatedCount))
        case 1: #expect(link.lostCount == 100 && arrivals.isEmpty)
        default: #expect((15...45).contains(link.lostCount))
        }
    }

    @Test("Jitter alone keeps the order; reordering does not")
    func order() {
        var link = SimulatedLink(seed: 5, conditions: .init(jitter: .milliseconds(50)))
        Self.sendHundred(&link)
        let steady = Self.drain(&link)
        for peer in 0...1 {
            let numbers = steady.filter { $0.peer == peer }.map { $0.datagram[0] }
            #expect(numbers == numbers.sorted() && numbers.count == 50)
        }
        link.conditions.reorderingProbability = 0.2
        for number in 0..<100 { link.send([UInt8(number)], to: 0, at: .seconds(1) + .milliseconds(number)) }
        let numbers = Self.drain(&link).map { $0.datagram[0] }
        #expect(link.reorderedCount > 0 && numbers != numbers.sorted() && numbers.sorted() == Array(0..<100))
    }

    @Test("Arrivals are ordered by time, and equal seeds give equal arrivals")
    func replay() {
        let conditions = SimulatedLink.Conditions(
            jitter: .milliseconds(9), lossProbability: 0.1, duplicationProbability: 0.1, reorderingProbability: 0.1)
        let runs = ([7, 7, 8] as [UInt64]).map { seed in
            var link = SimulatedLink(seed: seed, conditions: conditions)
            Self.sendHundred(&link)
            return Self.drain(&link)
        }
        #expect(runs[0] == runs[1] && runs[0] != runs[2])
        #expect(runs[0].map(\.time) == runs[0].map(\.time).sorted())
    }
}
