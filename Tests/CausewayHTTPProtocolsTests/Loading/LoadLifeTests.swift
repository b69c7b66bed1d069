import CausewayTestKit
import Testing

@testable import CausewayHTTPProtocols

@Suite("Random lives of a load")
struct LoadLifeTests {
    /// The seeds of the random event sequences. With `CAUSEWAY_MACHINE_SEEDS=100000`, the test runs 100000 sequences.
    private static let seeds = 0..<max(1_000, MachineSeeds.range.upperBound)

    @Test(
        "In any order of events: one end, one exchange at a time, one use of each held response, one answer per question"
    )
    func keepsInvariants() {
        for seed in Self.seeds {
            var life = LoadLife(seed: seed)
            life.run()
            guard let fault = life.fault else { continue }
            Issue.record("seed \(seed): \(fault)\n\(life.history.suffix(20).joined(separator: "\n"))")
            return
        }
    }
}

/// Simulates a load with a random server, program and network. Checks each action of the load's state machine.
private struct LoadLife {
    /// An exchange with the simulated server that has not ended.
    struct Exchange {
        var hasHead = false
        /// The content that has not arrived, in pieces.
        var rest = 0
    }

    /// The test driver's view of a response that is held back.
    struct Held {
        var pieces: [Int] = []
        var isBeingDelivered = false
    }

    private var machine = LoadMachine()
    private var random: SplitMix64
    private var exchange: Exchange?
    private var held: Held?
    private var isPausing = false
    private var isRecovering = false
    private var isDelivering = false
    private var questions: [(question: LoadMachine.Question, isAnswered: Bool)] = []
    private var openQuestion: Int?
    private var nextPiece = 0
    private var deliveredPiece = -1
    private var requestCount = 0
    private var endCount = 0
    private(set) var fault: String?
    private(set) var history: [String] = []

    init(seed: UInt64) { random = SplitMix64(seed: seed) }

    mutating func run() {
        prepare()
        for _ in 0..<2_000 where fault == nil && endCount == 0 { step() }
        guard fault == nil else { return }
        check(endCount == 1, "the load did not end")
        // After the end, the machine must ignore all events.
        for _ in 0..<20 where fault == nil { staleEvent() }
    }

    private mutating func check(_ isTrue: Bool, _ text: String) {
        if !isTrue, fault == nil { fault = text }
    }

    private mutating func report(_ name: String, _ event: (inout LoadMachine) -> LoadMachine.Action) {
        let hadEnded = machine.hasEnded
        let action = event(&machine)
        history.append("\(name): \(action)")
        check(!hadEnded || action == .none, "an action after the end")
        perform(action)
    }

    // MARK: Events

    private mutating func step() {
        switch random.integer(in: 0...11) {
        case 0: staleEvent()
        case 1: report("demand") { [wanted = random.chance(oneIn: 2)] in $0.demandChanged(isWanted: wanted) }
        case 2 where random.chance(oneIn: 40): report("stop") { $0.loadEnded() }
        case 3 where isPausing:
            isPausing = false
            report("pause elapsed") { $0.pauseElapsed() }
        case 4...6 where machine.isDeciding: decide()
        case 7 where held?.isBeingDelivered == true: takeHeld()
        default: if exchange != nil { serve() }
        }
    }

    /// Reports an event to the machine that does not fit the machine's state, or that it has already received.
    private mutating func staleEvent() {
        switch random.integer(in: 0...5) {
        case 0:
            guard let index = questions.indices.randomElement(using: &random), index != openQuestion else { return }
            check(!machine.answered(questions[index].question), "a closed question takes an answer")
        case 1: if exchange == nil || machine.hasEnded { report("late content") { $0.contentArrived(1) } }
        case 2: if !isPausing { report("late timer") { $0.pauseElapsed() } }
        case 3: if held?.isBeingDelivered != true { report("late release") { $0.heldContentTaken() } }
        case 4: if !machine.isDeciding { report("late choice") { $0.repetitionChosen() } }
        default: if !machine.isDeciding { report("late choice") { $0.deliveryChosen() } }
        }
    }

    /// Acts as the server: sends a response head or content, or ends the exchange.
    private mutating func serve() {
        guard var current = exchange else { return }
        if !current.hasHead {
            guard !random.chance(oneIn: 6) else { return endExchange(isComplete: false) }
            current.hasHead = true
            current.rest = random.integer(in: 0...4)
            exchange = current
            return sendHead()
        }
        guard current.rest > 0, !random.chance(oneIn: 12) else { return endExchange(isComplete: current.rest == 0) }
        current.rest -= 1
        exchange = current
        let size = random.integer(in: 1...40_000)
        let piece = nextPiece
        nextPiece += 1
        let action = machine.contentArrived(size)
        history.append("content \(piece): \(action)")
        switch action {
        case .deliver: deliver(piece)
        case .hold, .decide:
            check(held != nil, "content is kept without a held response")
            held?.pieces.append(piece)
        case .none: check(held == nil && !isDelivering, "content is lost")
        default: check(false, "unexpected \(action)")
        }
    }

    private mutating func sendHead() {
        switch random.integer(in: 0...11) {
        case 0, 1: report("head") { $0.headArrived(.useStored) }
        case 2: report("head") { $0.headArrived(.sendAgain) }
        case 3: report("upload") { $0.uploadInterrupted(for: .milliseconds(1)) }
        case 4, 5:
            report("head") { $0.headArrived(.deliver) }
            isDelivering = true
        default:
            check(held == nil, "a second held response")
            held = Held()
            report("head") { $0.headArrived(.hold(.challenge)) }
        }
    }

    private mutating func endExchange(isComplete: Bool) {
        exchange = nil
        report("exchange ended, complete \(isComplete)") { $0.exchangeEnded(isComplete: isComplete) }
    }

    /// Simulates a decision about a held response, or about a failure. The decision comes from the program or from a
    /// rule.
    private mutating func decide() {
        if random.chance(oneIn: 3) {
            guard let question = machine.asked() else { return check(false, "no question while deciding") }
            openQuestion = questions.count
            questions.append((question, false))
            return
        }
        if let open = openQuestion {
            check(!questions[open].isAnswered, "a question is open after its answer")
            check(machine.answered(questions[open].question), "an open question takes no answer")
            questions[open].isAnswered = true
            openQuestion = nil
        }
        if random.chance(oneIn: 4) { report("deliver") { $0.deliveryChosen() } } else { repeatRequest() }
    }

    private mutating func repeatRequest() {
        openQuestion = nil
        report("repeat") { $0.repetitionChosen() }
    }

    private mutating func takeHeld() {
        for piece in held?.pieces ?? [] { deliver(piece) }
        held = nil
        isDelivering = true
        report("held content taken") { $0.heldContentTaken() }
    }

    // MARK: Actions

    private mutating func deliver(_ piece: Int) {
        check(isDelivering || held?.isBeingDelivered == true, "content before its head")
        check(piece > deliveredPiece, "content out of order")
        deliveredPiece = piece
    }

    private mutating func perform(_ action: LoadMachine.Action) {
        switch action {
        case .none, .hold, .deliver, .discard, .read, .reportWaiting, .reportContinuing, .decide: break
        case .prepare: prepare()
        case .send:
            check(exchange == nil, "two exchanges at a time")
            requestCount += 1
            exchange = Exchange()
        case .deliverHeld:
            openQuestion = nil
            check(held?.isBeingDelivered == false, "a held response is delivered twice")
            held?.isBeingDelivered = true
        case .deliverStored: useStored()
        case .cancelExchange:
            check(exchange != nil, "no exchange to cancel")
            (held, openQuestion) = (nil, nil)
            if random.chance(oneIn: 2) { endExchange(isComplete: false) }
        case .pause:
            check(!isPausing, "two pauses")
            isPausing = true
            if exchange != nil, random.chance(oneIn: 2) { endExchange(isComplete: false) }
        case .recover: recover()
        case .fail, .finish: report("end") { $0.loadEnded() }
        case .end:
            endCount += 1
            check(endCount == 1, "a second end")
            (exchange, held, openQuestion) = (nil, nil, nil)
        }
    }

    /// Prepares the simulated load's next request. It may turn out that a stored response answers the request.
    private mutating func prepare() {
        check(held?.isBeingDelivered != true, "a response is followed during its delivery")
        (held, openQuestion) = (nil, nil)
        check(exchange == nil, "the next request is prepared before the exchange ends")
        report("prepared") { $0.requestPrepared() }
    }

    private mutating func useStored() {
        check(exchange == nil, "a stored response is delivered before the exchange ends")
        guard random.chance(oneIn: 2) else { return report("stored") { $0.storedResponseFound() } }
        held = Held()
        report("stored redirect") { $0.storedRedirectFound() }
    }

    private mutating func recover() {
        switch random.integer(in: 0...3) {
        case 0: report("credential") { $0.recoveryFound() }
        case 1: report("upload") { $0.uploadInterrupted(for: .milliseconds(1)) }
        case 2: useStored()
        default: report("failed") { $0.loadEnded() }
        }
    }
}
