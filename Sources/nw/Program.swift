import ArgumentParser
import CausewayRuntime
import CausewaySystem
import Dispatch

/// Where the tool begins.
///
/// The arguments are understood on the thread that is there. An asynchronous entry point would begin three threads before the first
/// argument is looked at: as much as a fifth of the time that `nw --help`, or a mistake in the arguments, takes.
@main
enum Program {
    static func main() {
        do {
            let command = try understood()
            guard let asynchronous = command as? any AsyncParsableCommand else {
                var command = command
                return try command.run()
            }
            start(asynchronous)
        } catch { NW.exit(withError: error) }
        // The main thread serves the main queue until the command ends the process, unless an event loop was promised it.
        Engine.keepPromise()
        dispatchMain()
    }

    /// The command that the first argument names is understood without the other thirty: looking at them all takes as long as
    /// understanding one. Where there is anything to say about the arguments the whole tool is asked, which knows what to say.
    private static func understood() throws -> sending any ParsableCommand {
        var arguments = Array(CommandLine.arguments.dropFirst())
        if let type = NW.commands.first(where: { $0.outline.commandName == arguments.first }) {
            var words = Array(arguments.dropFirst())
            if CommandWords.areNeeded(for: words) { words = CommandWords(of: type).split(words) }
            if let command = try? type.parseAsRoot(words) { return command }
            arguments = arguments.prefix(1) + words
        } else {
            try NW.checkName(in: arguments)
        }
        return try NW.parseAsRoot(arguments)
    }

    /// Dispatch opens files when its first thread starts, and traps where it cannot: with few to spare it starts before anything else.
    private static func startDispatch() {
        let limit = System.openFileLimit
        guard limit < 64 else { return }
        do {
            try System.checkRoom(forFiles: 8)
        } catch {
            printError("nw: too many open files: this process may have \(limit) (ulimit -n)")
            exit(EXIT_FAILURE)
        }
        let isStarted = DispatchSemaphore(value: 0)
        DispatchQueue.global().async { isStarted.signal() }
        isStarted.wait()
    }

    private static func start(_ command: sending any AsyncParsableCommand) {
        startDispatch()
        Task(executorPreference: (command as? any Subcommand)?.prepare()) {
            do {
                var command = command
                try await command.run()
                exit(EXIT_SUCCESS)
            } catch {
                // With the usage of this command, where it was used wrongly.
                type(of: command).exit(withError: error)
            }
        }
    }
}
