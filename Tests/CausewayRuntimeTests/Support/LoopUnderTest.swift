import CausewayRuntime
import CausewaySystem
import Testing

/// The two kinds of event loop under test. All tests share one loop of each kind, because a loop's thread lives as long
/// as the process.
enum LoopUnderTest: String, CaseIterable, Sendable, CustomTestStringConvertible {
    case epoll, dispatchSource

    private static let epollLoop = Engine.makeLoop(.epoll, name: "test-epoll")
    private static let dispatchLoop = Engine.makeLoop(.dispatchSource, name: "test-dispatch")

    var loop: any EventLoop {
        switch self {
        case .epoll: Self.epollLoop
        case .dispatchSource: Self.dispatchLoop
        }
    }

    var testDescription: String { rawValue }
}
