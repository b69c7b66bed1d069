internal import CausewayProtocols
internal import CausewayRuntime
internal import CausewaySystem

/// Calls the program's framer when the framer's `FramerStage` requests it. `FramerStage` is a state machine that
/// buffers the framer's input and output.
///
/// The framer object is created before its `start` method is called. It is released after its `cleanup` method has
/// returned. The framer's methods run on the connection's queue, without a lock.
///
/// A call from the framer to its ``NWProtocolFramer/Instance`` goes through ``FramerHost`` to the state machine.
final class FramerDelegate: ProgramDelegate {
    private struct Life: Sendable {
        var place: (any StageAccess)?
        var instance: NWProtocolFramer.Instance?
        var framer: Unchecked<any NWProtocolFramerImplementation>?
        var hasHandshake = false
        var hasGivenUp = false
    }

    let options: NWProtocolFramer.Options
    let context: FramerContext
    private let life = LockedValue(Life())

    init(_ options: NWProtocolFramer.Options, in context: FramerContext) {
        self.options = options
        self.context = context
    }

    /// Gives access to the framer's `FramerStage`, which buffers input and output. `nil` until the framer's `start`
    /// method is called, and again after its `cleanup` method has returned.
    var place: (any StageAccess)? { life.withLock { $0.place } }

    /// Whether the framer performs a handshake: its `start` method did not return `.ready`.
    var hasHandshake: Bool { life.withLock { $0.hasHandshake } }

    var hasGivenUp: Bool { life.withLock { $0.hasGivenUp } }

    func metadata(among messages: [any StageMetadata]) -> NWProtocolMetadata? {
        messages.lazy.compactMap { ($0 as? FramerMetadata)?.message }.first { $0.definition == self.options.definition }
    }

    func giveUp() { life.withLock { $0.hasGivenUp = true } }

    func handle(_ event: any StageEvent, at place: any StageAccess) {
        guard case .call(let call)? = event as? FramerEvent else { return }
        if call.kind == .start { begin(at: place) }
        let (instance, held) = life.withLock { ($0.instance, $0.framer) }
        // The first call is always `start`. For this call, `begin(at:)` creates the instance and the framer. Later
        // calls therefore find both objects.
        guard let instance, let framer = held?.value else { return }
        perform(call, framer, instance, at: place)
    }

    private func begin(at place: any StageAccess) {
        let instance = NWProtocolFramer.Instance(options: options, host: self)
        life.withLock { life in
            life.place = place
            life.instance = instance
        }
        let framer = Unchecked(options.framerDefinition.implementation.init(framer: instance))
        life.withLock { $0.framer = framer }
    }

    private func perform(
        _ call: FramerCall, _ framer: any NWProtocolFramerImplementation, _ instance: NWProtocolFramer.Instance,
        at place: any StageAccess
    ) {
        switch call.kind {
        case .start:
            let isReady = framer.start(framer: instance) == .ready
            life.withLock { $0.hasHandshake = !isReady }
            place.withStage(as: FramerStage.self) { $0.startEnded(isReady: isReady) }
        case .input:
            let wanted = framer.handleInput(framer: instance)
            place.withStage(as: FramerStage.self, isAnswer: false) { $0.inputEnded(wanting: wanted) }
        case .output:
            framer.handleOutput(
                framer: instance, message: message(of: call, instance), messageLength: call.length,
                isComplete: call.isComplete)
            place.withStage(as: FramerStage.self, isAnswer: false) { $0.outputEnded() }
        case .wakeUp:
            framer.wakeup(framer: instance)
            place.withStage(as: FramerStage.self, isAnswer: false) { $0.wakeUpEnded() }
        case .stop:
            let isDone = framer.stop(framer: instance)
            place.withStage(as: FramerStage.self) { $0.stopEnded(isDone: isDone) }
        case .cleanup:
            framer.cleanup(framer: instance)
            place.withStage(as: FramerStage.self) { $0.cleanupEnded() }
            end()
        }
    }

    /// Returns the program's message for this framer. Messages for other framers in the stack are ignored. If the call
    /// contains no message for this framer, the result is an empty message.
    private func message(of call: FramerCall, _ instance: NWProtocolFramer.Instance) -> NWProtocolFramer.Message {
        for case let metadata as FramerMetadata in call.metadata where metadata.message.definition == options.definition
        {
            return metadata.message
        }
        return NWProtocolFramer.Message(instance: instance)
    }

    private func end() {
        // The `deinit` of the program's object may run code in the program. So release this object only after the lock
        // was released.
        let ended = life.withLock { life in
            let ended = life
            life = Life(hasGivenUp: ended.hasGivenUp)
            return ended
        }
        withExtendedLifetime(ended) {}
    }
}

extension FramerDelegate: HandshakeSource {
    var handshakeDefinition: NWProtocolDefinition? { hasHandshake ? options.definition : nil }
}
