import Causeway
import Dispatch
import Testing

@testable import CausewayPeerProtocols
@testable import CausewayPeers

/// Tests which dials run at the same time, with a virtual clock.
@Suite("Dials of peers")
struct PeerDialsTests {
    private static let own = Self.key(100)

    private static func key(_ number: UInt64) -> PeerKey { PeerKey(id: number, high: number, low: 0) }

    /// Adds a dial for each peer. Returns the peers whose dials start at once.
    private static func add(
        _ peers: [UInt64], _ purpose: PeerDial.Purpose = .invitation, to dials: inout PeerDials, at now: Duration
    ) -> [Int] {
        for peer in peers {
            let dial = PeerDial(peer: key(peer), endpoints: [], purpose: purpose)
            dials.add(LinkID(Int(peer)), PeerRace(dial: dial, candidates: []), own: own, at: now)
        }
        return starts(&dials, at: now)
    }

    private static func starts(_ dials: inout PeerDials, at now: Duration) -> [Int] {
        var numbers: [Int] = []
        while let id = dials.nextToStart(at: now) { numbers.append(id.rawValue) }
        return numbers
    }

    @Test("A candidate's timer has no effect after another candidate has started, in a later round too")
    func staleTimer() {
        let places: [NWEndpoint] = [
            .hostPort(host: .ipv4(.loopback), port: 1), .hostPort(host: .ipv4(.loopback), port: 2),
        ]
        let dial = PeerDial(peer: Self.key(1), endpoints: [], purpose: .invitation)
        var race = PeerRace(dial: dial, candidates: places)
        #expect(race.takeCandidate() == places[0])
        var timers = [race.startCount]
        #expect(race.takeCandidate() == places[1])
        #expect(race.takeCandidate() == nil)
        #expect(!timers.contains(race.startCount))
        timers.append(race.startCount)
        race.candidates = places
        #expect(race.takeCandidate() == places[0])
        #expect(!timers.contains(race.startCount))
    }

    @Test("A dial is running while its candidate has no link yet, and takes no link after its end")
    func linkless() {
        var dials = PeerDials()
        #expect(Self.add([1], to: &dials, at: .zero) == [1])
        let (id, place) = (LinkID(1), NWEndpoint.hostPort(host: .ipv4(.loopback), port: 1))
        dials[id]?.candidates = [place]
        let taken = dials[id]?.takeCandidate()
        #expect(taken == place)
        #expect(dials[id]?.isRunning == true)
        let link = PeerLink(NWConnection(to: place, using: .tcp), queue: DispatchQueue(label: "link")) { _, _ in }
        let isAdded = dials.add(link, to: id)
        #expect(isAdded)
        #expect(dials.dial(of: link) == id)
        #expect(dials[id]?.isRunning == true)
        dials[id]?.remove(link)
        #expect(dials[id]?.isRunning == false)
        dials.remove(id)
        let isAddedLate = dials.add(link, to: id)
        #expect(!isAddedLate)
    }

    @Test("A few dials start at once, to smaller and larger peers")
    func few() {
        var dials = PeerDials()
        #expect(Self.add([1, 200, 2], to: &dials, at: .zero) == [1, 200, 2])
        #expect(dials.timeToLook(at: .zero) == nil)
    }

    @Test("Four dials run at a time; the next starts when one ends or is slow")
    func limit() {
        var dials = PeerDials()
        #expect(Self.add([201, 202, 203, 204, 205, 206, 207], to: &dials, at: .zero) == [201, 202, 203, 204])
        dials.remove(LinkID(202))
        #expect(Self.starts(&dials, at: .milliseconds(10)) == [205])
        #expect(dials.timeToLook(at: .milliseconds(10)) == PeerDials.patience - .milliseconds(10))
        #expect(dials.timeToLook(at: .milliseconds(10)) == nil, "planned already")
        #expect(Self.starts(&dials, at: PeerDials.patience) == [206, 207])
    }

    @Test("Replacements and lanes never wait", arguments: [PeerDial.Purpose.resumption, .lane])
    func urgent(_ purpose: PeerDial.Purpose) {
        var dials = PeerDials()
        _ = Self.add([201, 202, 203, 204, 205, 206], to: &dials, at: .zero)
        #expect(Self.add([7, 8], purpose, to: &dials, at: .zero).sorted() == [7, 8])
        #expect(Self.starts(&dials, at: .zero) == [])
    }

    @Test("In a crowd, smaller peers are expected to dial, as long as peers arrive and at most for 5 s")
    func crowd() {
        var dials = PeerDials()
        #expect(Self.add([1, 201, 2, 3, 4, 202], to: &dials, at: .zero) == [201, 202])
        for tenth in 1...49 {
            dials.arrived(at: .milliseconds(tenth * 100))
            #expect(Self.starts(&dials, at: .milliseconds(tenth * 100)) == [])
        }
        // Peer 2 has connected to this side. So this side's own attempt is not needed.
        #expect(dials.remove(LinkID(2)) != nil)
        #expect(Self.starts(&dials, at: PeerDials.longestCourtesy) == [1, 3, 4])
    }

    @Test("Without arrivals, a peer that is invited by the larger one waits for the courtesy only")
    func oneSided() {
        var dials = PeerDials()
        #expect(Self.add([1, 2, 3, 4, 5], to: &dials, at: .seconds(10)) == [])
        #expect(dials.timeToLook(at: .seconds(10)) == PeerDials.courtesy)
        #expect(Self.starts(&dials, at: .seconds(10) + PeerDials.courtesy) == [1, 2, 3, 4])
    }
}
