internal import CausewayPeerProtocols

extension Exercise {
    /// Decodes bytes as a frame of the actor protocol. Checks that the frame is encoded to an equal one.
    ///
    /// - Returns: Whether the bytes are a frame.
    @discardableResult
    public static func actorFrame(_ bytes: [UInt8]) -> Bool {
        guard let frame = try? ActorFrame(bytes) else { return false }
        check((try? ActorFrame(frame.bytes)) == frame)
        return true
    }

    /// Runs an actor engine whose peers send arbitrary frames. The engine must resume each call once, begin each
    /// service at most once, and use bounded memory.
    ///
    /// - Returns: The number of actions.
    @discardableResult
    public static func actorEngine(_ bytes: [UInt8]) -> Int {
        var subject = ActorEngineSubject()
        var choices = Choices(bytes)
        while !choices.isEmpty { subject.step(&choices) }
        return subject.finish()
    }
}

/// Tests an actor engine. The peers are simulated and hostile. Numbers stand for peers and waiting callers.
private struct ActorEngineSubject {
    private var engine: ActorEngine<Int, Int>
    private var now: Duration = .zero
    private var waiting: Set<Int> = []
    private var nextWaiter = 0
    private var calls: [(number: UInt64, peer: Int)] = []
    private var services: [ActorService<Int>] = []
    private var actionCount = 0
    private let peerCount = 3

    init() {
        var limits = ActorLimits()
        limits.callCount = 6
        limits.frameByteCount = 200
        limits.waitingByteCount = 400
        limits.listingCount = 5
        engine = ActorEngine(limits)
        for peer in 0..<peerCount { engine.joined(peer) }
        settle()
    }

    mutating func step(_ choices: inout Exercise.Choices) {
        let peer = choices.next(below: peerCount)
        switch choices.next(below: 12) {
        case 0: engine.joined(peer)
        case 1: engine.left(peer, "")
        case 2: now += .milliseconds(Int(choices.next()) * 20)
        case 3: call(peer)
        case 4:
            if !calls.isEmpty {
                let call = calls[choices.next(below: calls.count)]
                engine.cancel(call.number, to: call.peer, wasSent: true)
            }
        case 5: serve(&choices)
        case 6: _ = engine.publish(listing(&choices))
        case 7: engine.withdraw(listing(&choices))
        case 8: engine.received(choices.take(Int(choices.next())), from: peer)
        default: engine.received(frame(&choices).bytes, from: peer)
        }
        engine.advance(to: now)
        settle()
    }

    private mutating func call(_ peer: Int) {
        guard let number = try? engine.call(peer, nextWaiter, until: now + .seconds(1)) else { return }
        waiting.insert(nextWaiter)
        calls.append((number, peer))
        nextWaiter += 1
    }

    private mutating func serve(_ choices: inout Exercise.Choices) {
        guard !services.isEmpty else { return }
        let service = services.remove(at: choices.next(below: services.count))
        if engine.begin(service) {
            Exercise.check(!engine.begin(service), "begun twice")
            _ = engine.finish(service, with: .void)
        }
        Exercise.check(engine.finish(service, with: .void) == nil, "finished twice")
    }

    private func listing(_ choices: inout Exercise.Choices) -> ActorListing {
        ActorListing(
            ActorListing.Name(key: "\(choices.next() & 3)", type: "t"), actor: UInt64(choices.next() & 3))
    }

    private func frame(_ choices: inout Exercise.Choices) -> ActorFrame {
        let number = UInt64(choices.next() & 15)
        switch choices.next(below: 8) {
        case 0: return .hello(version: 1, wantsAnswer: number & 1 == 1)
        case 1: return .cancel(call: number)
        case 2: return .publish(listing(&choices))
        case 3: return .withdraw(listing(&choices))
        case 4: return .reply(call: number, .value(choices.take(3)))
        default:
            let argument = choices.take(Int(choices.next()))
            return .call(ActorCall(id: number, actor: 1, target: "t", arguments: [argument]))
        }
    }

    private mutating func settle() {
        for action in engine.takeActions() {
            actionCount += 1
            switch action {
            case .resume(let waiter, _): Exercise.check(waiting.remove(waiter) != nil, "resumed twice")
            case .serve(_, let service): services.append(service)
            case .send(let frame, let peer):
                Exercise.check((try? ActorFrame(frame.bytes)) == frame && engine.isMember(peer))
            case .stop, .changed: break
            }
        }
        for peer in 0..<peerCount {
            Exercise.check(engine.calls.count(of: peer) <= 6 && engine.services.count(of: peer) <= 6)
            Exercise.check(
                engine.directory.count(of: peer) <= 5 && (0...400).contains(engine.services.waitingByteCount(of: peer)))
        }
    }

    mutating func finish() -> Int {
        for peer in 0..<peerCount { engine.left(peer, "") }
        settle()
        Exercise.check(waiting.isEmpty && engine.services.count == 0, "\(waiting.count) calls are left")
        Exercise.check(engine.deadline == nil)
        return actionCount
    }
}
