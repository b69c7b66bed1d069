import CausewayProtocols
import CausewayTestKit
import CausewayTypes
import CausewayWire

/// Random tests of protocol stages. A simulated owner answers the stages' calls and questions.
enum StageTrials {
    static var all: [any MachineTesting] { [framer, tunnel, webSocket, stack] }

    // MARK: Framer

    private static var framer: any MachineTesting {
        MachineTrial("FramerStage", model: FramerCall.Kind.start) { _ in
            var stage = FramerStage()
            stage.start(at: .zero)
            // Take the start call, as the owner of the stage does. A framer that never started would end without a
            // report.
            _ = stage.takeActions(dueAt: .zero)
            return stage
        } event: { stage, call, now, random in
            switch random.integer(in: 0...15) {
            case 0...4: answer(call, &stage, &random)
            case 5: answer([FramerCall.Kind.start, .input, .output, .stop][random.integer(in: 0...3)], &stage, &random)
            case 6...9: neighbours(&stage, now, &random)
            case 10:
                let time = now + .milliseconds(random.integer(in: 0...900))
                stage.scheduleWakeUp(at: random.chance(oneIn: 4) ? nil : time)
            case 11: if random.chance(oneIn: 2) { end(&stage, now, &random) }
            default: parse(&stage, &random)
            }
            return []
        }.noting { current, action in
            let call: FramerCall = action
            current = call.kind
        }.ending {
            if case .cleanup = $0.kind { true } else { false }
        }
    }

    private static func answer(_ call: FramerCall.Kind, _ stage: inout FramerStage, _ random: inout SplitMix64) {
        switch call {
        case .start: stage.startEnded(isReady: random.chance(oneIn: 2))
        case .input: stage.inputEnded(wanting: random.integer(in: -1...20))
        case .output: stage.outputEnded()
        case .wakeUp: stage.wakeUpEnded()
        case .stop: stage.stopEnded(isDone: random.chance(oneIn: 2))
        case .cleanup: stage.cleanupEnded()
        }
    }

    /// Simulates one random event of the protocol below or above the framer.
    private static func neighbours(_ stage: inout FramerStage, _ now: Duration, _ random: inout SplitMix64) {
        let bytes = random.bytes(random.integer(in: 0...9))
        let isFinal = random.chance(oneIn: 12)
        switch random.integer(in: 0...4) {
        case 0, 1:
            stage.receive(MessageChunk(bytes, endsMessage: random.chance(oneIn: 2), isFinal: isFinal), at: now)
        case 2: stage.send(MessageChunk(bytes, endsMessage: random.chance(oneIn: 2), isFinal: isFinal), at: now)
        case 3: _ = stage.nextInbound(atMost: random.integer(in: 0...9))
        default: _ = stage.nextOutbound(atMost: random.integer(in: 0...9))
        }
    }

    private static func parse(_ stage: inout FramerStage, _ random: inout SplitMix64) {
        let count = random.integer(in: -1...9)
        switch random.integer(in: 0...8) {
        case 0: stage.markReady()
        case 1: _ = stage.inputWindow(minimum: count, maximum: random.integer(in: 0...9))
        case 2: stage.advanceInput(by: count)
        case 3: _ = stage.deliverNext(count, metadata: [], endsMessage: random.chance(oneIn: 2))
        case 4: stage.deliver(ByteChain([1]), metadata: [], endsMessage: random.chance(oneIn: 2))
        case 5: stage.write(ByteChain([2]))
        case 6: _ = stage.writeNext(count)
        case 7: stage.advanceOutput(by: stage.outputWindow(minimum: 0, maximum: max(0, count)).bytes.count)
        default: if random.chance(oneIn: 6) { stage.passThroughInput() } else { stage.passThroughOutput() }
        }
    }

    private static func end(_ stage: inout FramerStage, _ now: Duration, _ random: inout SplitMix64) {
        switch random.integer(in: 0...2) {
        case 0: stage.close(at: now)
        case 1: stage.markFailed(random.chance(oneIn: 2) ? .misuse : nil)
        default: stage.abort(.aborted)
        }
    }

    // MARK: Tunnel

    private static let responses = [
        "HTTP/1.1 200 OK\r\n\r\n", "HTTP/1.1 100 Continue\r\n\r\n", "HTTP/1.1 503 No\r\n\r\n",
        "HTTP/1.1 407 Who\r\nProxy-Authenticate: NTLM QUFB\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 407 Who\r\nProxy-Authenticate: Basic realm=\"x\"\r\nContent-Length: 4\r\n\r\nbody",
    ]
    private static let replies: [[UInt8]] = [[5, 0], [5, 2], [1, 0], [5, 0, 0, 1, 10, 0, 0, 1, 0x1F, 0x90]]

    /// A proxy's message: HTTP, SOCKS, or arbitrary bytes.
    private static func word(_ random: inout SplitMix64) -> [UInt8] {
        switch random.integer(in: 0...9) {
        case 0: return random.bytes(4)
        case 1...3: return replies[random.integer(in: 0...3)]
        default: return Array(responses[random.integer(in: 0...4)].utf8)
        }
    }

    private static var tunnel: any MachineTesting {
        MachineTrial("TunnelStage", model: ()) { random in
            let destination = TunnelDestination(.name("a.test"), port: 80)
            let credential = TunnelCredential(username: "u", password: "p")
            switch random.integer(in: 0...6) {
            case 0: return TunnelStage(nil)
            case 1: return TunnelStage(SOCKSHandshake(to: destination, credential: credential))
            case 2: return TunnelStage(ConnectHandshake(to: destination, credential: credential, nonce: "n"))
            default:
                let isFirstKnown = random.chance(oneIn: 2)
                return TunnelStage(
                    ConnectHandshake(
                        random.chance(oneIn: 2) ? .tunnel : .forward, to: destination, credential: nil, nonce: "n",
                        authorization: isFirstKnown ? "NTLM one" : nil, scheme: "ntlm"))
            }
        } event: { stage, _, now, random in
            switch random.integer(in: 0...11) {
            case 0, 1: stage.start(at: now)
            case 2...6:
                let chunk = MessageChunk(word(&random), endsMessage: false, isFinal: random.chance(oneIn: 12))
                stage.receive(chunk, at: now)
            case 7, 8: stage.answered(random.chance(oneIn: 8) ? nil : random.chance(oneIn: 8) ? "\r\n" : "NTLM three")
            case 9: stage.send(MessageChunk([1, 2]), at: now)
            case 10: _ = stage.nextInbound(atMost: 3)
            default:
                if random.chance(oneIn: 8) { stage.close(at: now) }
                if random.chance(oneIn: 8) { stage.abort(.aborted) }
            }
            while stage.nextOutbound(atMost: .max) != nil {}
            return []
        }.untimed()
    }

    // MARK: WebSocket

    private static func webSocketStage(_ random: inout SplitMix64) -> WebSocketStage {
        var configuration = WebSocketMachine.Configuration()
        configuration.skipsHandshake = random.chance(oneIn: 2)
        configuration.repliesToPings = random.chance(oneIn: 2)
        let role: WebSocketMachine.Role =
            random.chance(oneIn: 2) ? .server : .client(UpgradeRequest(authority: "h"))
        return WebSocketStage(
            WebSocketMachine(role, configuration: configuration, random: SplitMix64(seed: random.next())))
    }

    private static var webSocket: any MachineTesting {
        MachineTrial("WebSocketStage", model: ()) { random in
            webSocketStage(&random)
        } event: { stage, _, now, random in
            switch random.integer(in: 0...11) {
            case 0, 1: stage.start(at: now)
            case 2: stage.respond(UpgradeResponse(status: random.chance(oneIn: 6) ? 400 : 101))
            case 3...6:
                let bytes = ByteMachineTrials.frame(&random)
                stage.receive(MessageChunk(bytes, endsMessage: false, isFinal: random.chance(oneIn: 12)), at: now)
            case 7, 8: send(to: &stage, now, &random)
            case 9: _ = stage.nextInbound(atMost: random.integer(in: 0...9))
            case 10: _ = stage.nextOutbound(atMost: random.integer(in: 0...200))
            default:
                if random.chance(oneIn: 8) { stage.close(at: now) }
                if random.chance(oneIn: 8) { stage.abort(random.chance(oneIn: 2) ? .endedEarly : .aborted) }
            }
            return []
        }.untimed()
    }

    private static func send(to stage: inout WebSocketStage, _ now: Duration, _ random: inout SplitMix64) {
        let opcode = [WebSocketOpcode.text, .binary, .ping, .pong, .close][random.integer(in: 0...4)]
        // After the end, send no ping. A later ping would still be reported as lost.
        if opcode == .ping, stage.hasEnded { return }
        let metadata = WebSocketMetadata(opcode: opcode, pingToken: random.chance(oneIn: 2) ? 7 : nil)
        stage.send(MessageChunk([104, 105], metadata: [metadata], endsMessage: random.chance(oneIn: 2)), at: now)
    }

    // MARK: Stack

    /// A pending call to a framer. The simulated program has not answered this call yet.
    private struct WaitingCall {
        var stage: ProtocolStack.StageID
        var kind: FramerCall.Kind
    }

    private static var stack: any MachineTesting {
        MachineTrial("ProtocolStack", model: [WaitingCall]()) { random in
            switch random.integer(in: 0...3) {
            case 0: ProtocolStack([FramerStage()])
            case 1: ProtocolStack([FramerStage(), webSocketStage(&random)])
            default: ProtocolStack([FramerStage(), FramerStage()])
            }
        } event: { stack, calls, now, random in
            switch random.integer(in: 0...15) {
            case 0, 1: stack.start(at: now)
            case 2...7:
                guard !calls.isEmpty else { break }
                let call = calls.remove(at: random.integer(in: 0...(calls.count - 1)))
                use(call.stage, of: &stack, now) { answer(call.kind, &$0, &random) }
            case 8, 9: use(anyStage(of: stack, &random), of: &stack, now) { parse(&$0, &random) }
            case 10:
                let time = now + .milliseconds(random.integer(in: 0...900))
                use(anyStage(of: stack, &random), of: &stack, now) { $0.scheduleWakeUp(at: time) }
            case 11: if random.chance(oneIn: 3) { endStage(of: &stack, now, &random) }
            default: neighbours(of: &stack, now, &random)
            }
            return []
        }.noting { calls, action in
            let event: ProtocolStack.Event = action
            if case .stage(let id, FramerEvent.call(let call)) = event {
                calls.append(WaitingCall(stage: id, kind: call.kind))
            }
        }.ending {
            switch $0 {
            case .failed, .closed: true
            case .ready, .stage: false
            }
        } mayFollowEnd: {
            // After its end, a stage may still release resources and encode its remaining output.
            if case .stage = $0 { true } else { false }
        }
    }

    private static func anyStage(of stack: ProtocolStack, _ random: inout SplitMix64) -> ProtocolStack.StageID {
        stack.stageIDs[random.integer(in: 0...(stack.stageIDs.count - 1))]
    }

    private static func use(
        _ id: ProtocolStack.StageID, of stack: inout ProtocolStack, _ now: Duration,
        _ body: (inout FramerStage) -> Void
    ) {
        _ = stack.withStage(id, as: FramerStage.self, body)
        stack.resume(at: now)
    }

    /// Simulates one random action of the transport or of the program.
    private static func neighbours(of stack: inout ProtocolStack, _ now: Duration, _ random: inout SplitMix64) {
        let bytes = random.bytes(random.integer(in: 0...9))
        let chunk = MessageChunk(
            bytes, endsMessage: random.chance(oneIn: 2), isFinal: random.chance(oneIn: 12))
        switch random.integer(in: 0...3) {
        case 0: stack.receive(chunk, at: now)
        case 1: stack.send(chunk, at: now)
        case 2: _ = stack.nextInbound(atMost: random.integer(in: 0...9), at: now)
        default: _ = stack.nextOutbound(atMost: random.integer(in: 0...9), at: now)
        }
    }

    private static func endStage(of stack: inout ProtocolStack, _ now: Duration, _ random: inout SplitMix64) {
        switch random.integer(in: 0...3) {
        case 0: stack.close(at: now)
        case 1: stack.abort(.aborted)
        case 2: _ = stack.insert(FramerStage(), above: anyStage(of: stack, &random))
        default: use(anyStage(of: stack, &random), of: &stack, now) { $0.markFailed(.misuse) }
        }
    }
}
