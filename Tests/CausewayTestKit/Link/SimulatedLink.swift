/// Carries datagrams between state machines in virtual time: it delays, drops, duplicates and reorders them.
///
/// The link has no clock: its owner passes the time. The same seed and the same calls give the same arrivals.
///
/// ```swift
/// var link = SimulatedLink(seed: 7, conditions: .init(lossProbability: 0.1))
/// link.send([1, 2, 3], to: 1, at: .zero)
/// while let time = link.nextArrival { deliver(link.popArrival(notPast: time)) }
/// ```
public struct SimulatedLink: Sendable {
    /// The delay and the faults of a simulated link. Probabilities are between 0 and 1.
    public struct Conditions: Equatable, Sendable {
        /// The delay of each datagram.
        public var latency: Duration
        /// The maximum delay that is added to ``latency``. Jitter alone never changes the order of the datagrams.
        public var jitter: Duration
        /// The probability that a datagram is delayed until later datagrams have arrived before it.
        public var lossProbability: Double
        /// The probability that a datagram is delivered twice.
        public var duplicationProbability: Double
        /// The probability that a datagram is delayed until later ones have overtaken it.
        public var reorderingProbability: Double

        /// Creates conditions; by default a delay of 10 ms without faults.
        public init(
            latency: Duration = .milliseconds(10), jitter: Duration = .zero, lossProbability: Double = 0,
            duplicationProbability: Double = 0, reorderingProbability: Double = 0
        ) {
            self.latency = latency
            self.jitter = jitter
            self.lossProbability = lossProbability
            self.duplicationProbability = duplicationProbability
            self.reorderingProbability = reorderingProbability
        }
    }

    /// An arrived datagram, with its recipient and its arrival time.
    public struct Arrival: Equatable, Sendable {
        /// The arrival time.
        public var time: Duration
        /// The number of the peer that received the datagram.
        public var peer: Int
        /// The content of the datagram.
        public var datagram: [UInt8]

        /// Creates an arrival.
        public init(time: Duration, peer: Int, datagram: [UInt8]) {
            self.time = time
            self.peer = peer
            self.datagram = datagram
        }
    }

    /// The delay and the faults for datagrams that are sent from now on.
    public var conditions: Conditions
    /// The number of dropped datagrams.
    public private(set) var lostCount = 0
    /// The number of datagrams that were duplicated.
    public private(set) var duplicatedCount = 0
    /// The number of reordered datagrams.
    public private(set) var reorderedCount = 0

    private var random: SplitMix64
    /// The datagrams in flight, sorted by arrival time. Datagrams with the same arrival time are in sending order.
    private var inFlight: [Arrival] = []
    /// The latest arrival time of in-order datagrams, by peer.
    private var lastInOrder: [Int: Duration] = [:]

    /// Creates a link. Links with equal seeds make equal random choices.
    public init(seed: UInt64, conditions: Conditions = Conditions()) {
        random = SplitMix64(seed: seed)
        self.conditions = conditions
    }

    /// The number of datagrams in transit.
    public var inFlightCount: Int { inFlight.count }

    /// The arrival time of the next datagram; `nil` if none is in transit.
    public var nextArrival: Duration? { inFlight.first?.time }

    /// Sends a datagram at the time `now`. Depending on the conditions it arrives once, twice or not at all.
    public mutating func send(_ datagram: [UInt8], to peer: Int, at now: Duration) {
        if happens(conditions.lossProbability) {
            lostCount += 1
            return
        }
        carry(datagram, to: peer, at: now)
        if happens(conditions.duplicationProbability) {
            duplicatedCount += 1
            carry(datagram, to: peer, at: now)
        }
    }

    /// Removes and returns the next datagram that has arrived by `now`; `nil` if there is none.
    public mutating func popArrival(notPast now: Duration) -> Arrival? {
        guard let first = inFlight.first, first.time <= now else { return nil }
        return inFlight.removeFirst()
    }

    private mutating func carry(_ datagram: [UInt8], to peer: Int, at now: Duration) {
        var time = now + conditions.latency + fraction(of: conditions.jitter)
        if happens(conditions.reorderingProbability) {
            reorderedCount += 1
            time += max(conditions.latency, .milliseconds(1)) + fraction(of: conditions.latency)
        } else {
            time = max(time, lastInOrder[peer] ?? time)
            lastInOrder[peer] = time
        }
        let index = inFlight.firstIndex { $0.time > time } ?? inFlight.endIndex
        inFlight.insert(Arrival(time: time, peer: peer, datagram: datagram), at: index)
    }

    private mutating func happens(_ probability: Double) -> Bool {
        probability > 0 && Double.random(in: 0..<1, using: &random) < probability
    }

    private mutating func fraction(of duration: Duration) -> Duration {
        duration <= .zero ? .zero : duration * Double.random(in: 0...1, using: &random)
    }
}
