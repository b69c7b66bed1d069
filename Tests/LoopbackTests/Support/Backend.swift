import CausewayRuntime
import CausewaySystem
import Dispatch
import FoundationEssentials

/// Selects the engine for the tests: `CAUSEWAY_ENGINE=epoll` or `dispatch-source`.
enum Backend {
    /// Selects the engine. Every test calls this method before its first connection.
    static func choose() { _ = chosen }

    private static let chosen: Engine.Backend = {
        let backend = Settings.environment("CAUSEWAY_ENGINE").flatMap(Engine.Backend.init(rawValue:)) ?? .epoll
        precondition(Engine.select(backend), "a loop is running already")
        return backend
    }()
}

/// Reads settings for the tests from environment variables.
enum Settings {
    static func environment(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }

    static func number(_ name: String, default value: Int) -> Int { environment(name).flatMap { Int($0) } ?? value }
}

/// Ends this child process if it still runs after a number of seconds.
enum Watchdog {
    static func arm(seconds: Int) {
        DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(seconds)) {
            print("still not done after \(seconds) s")
            exit(9)
        }
    }
}
