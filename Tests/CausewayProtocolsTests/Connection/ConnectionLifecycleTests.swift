import CausewayProtocols
import CausewayTypes
import Testing

@Suite("Connection life-cycle")
struct ConnectionLifecycleTests {
    typealias Lifecycle = ConnectionLifecycle

    enum Event {
        case started, startedEstablished, startedWithMistake, established, exhausted, retry, broke, lost, cancelled,
            aborted, closed
        case endpointCancelled(isDatagram: Bool)

        func apply(to lifecycle: inout Lifecycle) -> [Lifecycle.Action] {
            switch self {
            case .started: lifecycle.started()
            case .startedEstablished: lifecycle.startedEstablished()
            case .startedWithMistake: lifecycle.startedWithMistake(.mistake)
            case .established: lifecycle.established()
            case .exhausted: lifecycle.endpointsExhausted(.refused)
            case .retry: lifecycle.retry()
            case .broke: lifecycle.broke(.reset)
            case .lost: lifecycle.lost(.reset)
            case .cancelled: lifecycle.cancelled(.graceful)
            case .aborted: lifecycle.cancelled(.abortive)
            case .closed: lifecycle.closed()
            case .endpointCancelled(let isDatagram):
                lifecycle.endpointCancelled(isDatagram: isDatagram, failure: .aborted)
            }
        }
    }

    struct Row: CustomTestStringConvertible {
        var name: String
        var before: [Event]
        var event: Event
        var actions: [Lifecycle.Action]
        var state: Lifecycle.State

        var testDescription: String { name }
    }

    static let beginning: [Row] = [
        Row(
            name: "start", before: [], event: .started, actions: [.report(.preparing), .establish], state: .preparing),
        Row(name: "start again", before: [.started], event: .started, actions: [], state: .preparing),
        Row(
            name: "accepted", before: [], event: .startedEstablished,
            actions: [.report(.preparing), .accept], state: .preparing),
        Row(
            name: "accepted", before: [.startedEstablished], event: .established,
            actions: [.report(.ready), .open], state: .ready),
        Row(
            name: "impossible parameters", before: [], event: .startedWithMistake,
            actions: [.fail(.mistake), .report(.failed(.mistake))], state: .failed(.mistake)),
        Row(
            name: "established", before: [.started], event: .established, actions: [.report(.ready), .open],
            state: .ready),
        Row(
            name: "refused leads to waiting, not to failed", before: [.started], event: .exhausted,
            actions: [.report(.waiting(.refused)), .watchNetwork], state: .waiting(.refused)),
        Row(
            name: "another try", before: [.started, .exhausted], event: .retry,
            actions: [.stopWatching, .report(.preparing), .establish], state: .preparing),
        Row(name: "restart while trying", before: [.started], event: .retry, actions: [], state: .preparing),
        Row(
            name: "restart once ready", before: [.started, .established], event: .retry, actions: [], state: .ready),
        Row(
            name: "exhausted once ready", before: [.started, .established], event: .exhausted, actions: [],
            state: .ready),
    ]

    static let endings: [Row] = [
        Row(
            name: "reset once ready", before: [.started, .established], event: .broke,
            actions: [.fail(.reset), .report(.failed(.reset))], state: .failed(.reset)),
        Row(
            name: "ended once ready, with a flow that is kept", before: [.started, .established], event: .lost,
            actions: [.report(.failed(.reset))], state: .failed(.reset)),
        Row(
            name: "broken afterwards", before: [.started, .established, .lost], event: .broke, actions: [],
            state: .failed(.reset)),
        Row(name: "ended before ready", before: [.started], event: .lost, actions: [], state: .preparing),
        Row(
            name: "permanent failure while preparing", before: [.started], event: .broke,
            actions: [.stopEstablishing, .fail(.reset), .report(.failed(.reset))], state: .failed(.reset)),
        Row(
            name: "permanent failure while waiting", before: [.started, .exhausted], event: .broke,
            actions: [.stopWatching, .fail(.reset), .report(.failed(.reset))], state: .failed(.reset)),
        Row(name: "broken before the start", before: [], event: .broke, actions: [], state: .setup),
        Row(
            name: "cancel before start", before: [], event: .cancelled, actions: [.close(.graceful)], state: .setup),
        Row(
            name: "cancel while preparing", before: [.started], event: .cancelled,
            actions: [.stopEstablishing, .close(.graceful)], state: .preparing),
        Row(
            name: "cancel while waiting", before: [.started, .exhausted], event: .cancelled,
            actions: [.stopWatching, .close(.graceful)], state: .waiting(.refused)),
        Row(
            name: "force cancel", before: [.started, .established], event: .aborted, actions: [.close(.abortive)],
            state: .ready),
        Row(
            name: "cancel twice", before: [.started, .established, .cancelled], event: .aborted, actions: [],
            state: .ready),
        Row(
            name: "closed", before: [.started, .established, .cancelled], event: .closed,
            actions: [.report(.cancelled), .release], state: .cancelled),
        Row(
            name: "cancel after failure", before: [.startedEstablished, .established, .broke], event: .cancelled,
            actions: [.close(.graceful)], state: .failed(.reset)),
        Row(name: "unexpected close", before: [.started], event: .closed, actions: [], state: .preparing),
        Row(
            name: "established after cancel", before: [.started, .cancelled], event: .established, actions: [],
            state: .preparing),
        Row(
            name: "broken while closing", before: [.started, .established, .cancelled], event: .broke, actions: [],
            state: .ready),
        Row(name: "start after cancel", before: [.cancelled], event: .started, actions: [], state: .setup),
    ]

    static let endpoints: [Row] = [
        Row(
            name: "leave the endpoint while preparing", before: [.started],
            event: .endpointCancelled(isDatagram: false),
            actions: [.tryNextEndpoint], state: .preparing),
        Row(
            name: "leave the endpoint of a ready stream", before: [.started, .established],
            event: .endpointCancelled(isDatagram: false),
            actions: [.fail(.aborted), .report(.failed(.aborted))], state: .failed(.aborted)),
        Row(
            name: "leave the endpoint of a ready datagram connection", before: [.started, .established],
            event: .endpointCancelled(isDatagram: true),
            actions: [.report(.preparing), .tryNextEndpoint], state: .preparing),
        Row(
            name: "leave nothing", before: [], event: .endpointCancelled(isDatagram: true), actions: [], state: .setup),
    ]

    @Test("Transitions", arguments: beginning + endings + endpoints)
    func transitions(_ row: Row) {
        var lifecycle = Lifecycle()
        for event in row.before { _ = event.apply(to: &lifecycle) }
        #expect(row.event.apply(to: &lifecycle) == row.actions)
        #expect(lifecycle.state == row.state)
    }
}

extension Failure {
    static let mistake = Failure(errno: 22)
    static let refused = Failure(errno: 111)
    static let reset = Failure(errno: 104)
    static let aborted = Failure(errno: 103)
}
