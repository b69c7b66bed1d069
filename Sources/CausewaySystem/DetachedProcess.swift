internal import CCausewayLinux

/// Starts programs that continue to run after this process has ended.
package enum DetachedProcess {
    /// Starts a program that inherits neither this process's open files nor its terminal nor its signal handling.
    /// Blocks until the program runs.
    ///
    /// - Parameters:
    ///   - path: The program's path.
    ///   - arguments: The arguments after the program name.
    ///   - environment: The program's environment variables.
    /// - Throws: The failed call's error, such as `ENOENT`; `EPERM` if this process has more rights than its user, for
    ///   example because of the set-user-ID bit.
    package static func start(
        _ path: String, arguments: [String], environment: [String: String]
    ) throws(SystemError) {
        var words: [UnsafeMutablePointer<CChar>?] = ([path] + arguments).map { strdup($0) }
        var values: [UnsafeMutablePointer<CChar>?] = environment.map { strdup($0 + "=" + $1) }
        defer { for text in words + values { free(text) } }
        words.append(nil)
        values.append(nil)
        try check(cw_detached_start(path, words, values), "execve")
    }

    /// Returns whether a file is an executable that contains `text` and that only this user and the superuser can
    /// change: the file belongs to one of them, and neither its group nor others can write it. Reads the file.
    package static func isProgram(_ path: String, containing text: String) -> Bool {
        cw_program_contains(path, text) == 1
    }
}

/// The system log.
package enum SystemLog {
    /// Writes an explanation for the user to the system log (syslog, level info). May block.
    package static func note(_ text: String) { cw_log_note(text) }
}
