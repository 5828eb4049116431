import Foundation
import Glibc
import TestSupport
import Testing

@testable import PiconetCommandLine

private var hasLandlock: Bool { if case .usable = LandlockSupport.current { true } else { false } }

/// Whether this user can have a root directory of its own: root in a mount namespace, others in one of users as well.
private var hasNamespaces: Bool {
  get async {
    (try? await ProcessOutcome.of("/usr/bin/unshare", [geteuid() == 0 ? "-m" : "-Ur", "true"]))?.status == 0
  }
}

/// What stands in exiftool's place tries everything that a program can ask the kernel for.
@Suite("The system calls of a confined program", .enabled(if: hasLandlock, "the kernel has no Landlock"))
struct ConfinedCallTests {
  private static let readable = [
    "/usr/bin", "/usr/lib", "/lib", "/lib64", "/usr/share/perl", "/etc/ld.so.cache", "/dev/null",
  ]

  /// The folder of the Swift library that this process has loaded: the probe is linked with the same one.
  private static var swiftLibraries: [String] {
    // A file of /proc says that it is empty, so it is read to its end.
    let maps = (try? FileHandle(forReadingAtPath: "/proc/self/maps")?.readToEnd()) ?? Data()
    let line = String(decoding: maps, as: UTF8.self).split(separator: "\n").first { $0.hasSuffix("/libswiftCore.so") }
    guard let path = line.flatMap({ line in line.firstIndex(of: "/").map { line[$0...] } }) else { return [] }
    return [URL(filePath: String(path)).deletingLastPathComponent().path]
  }

  private func output(_ words: [String], readable: [String] = readable) async throws -> ConfinedProcess.Outcome {
    let process = ConfinedProcess(words: words, readable: readable, variables: ["LC_ALL=C"], time: .seconds(60))
    let folder = try TemporaryFolder()
    try folder.write("input", Array("content".utf8))
    let input = try #require(FileHandle(forReadingAtPath: folder.path + "/input"))
    return await process.run(input: input.fileDescriptor, output: .collected(atMost: 64 << 10))
  }

  private func lines(_ script: String) async throws -> [String] {
    let outcome = try await output(["/usr/bin/perl", "-e", script])
    guard case .ended(0, let output, let errors) = outcome, errors.isEmpty else {
      Issue.record("\(outcome)")
      return []
    }
    return String(decoding: output, as: UTF8.self).split(separator: "\n").map(String.init)
  }

  #if arch(x86_64)
    /// The numbers of asm/unistd_64.h for files by descriptor and by name, memory, the process's own signals and
    /// identity, time, random numbers, and what the C library calls at its start.
    private static let allowed: Set<Int> = [
      0, 1, 2, 3, 4, 5, 6, 8, 9, 10, 11, 12, 13, 14, 16, 17, 19, 20, 21, 25, 28, 32, 33, 35, 39, 72, 79, 89, 96, 102,
      104, 107, 108, 158, 201, 202, 217, 218, 219, 228, 230, 257, 262, 267, 269, 273, 292, 318, 334, 439,
    ]

    /// The first three are allowed: two end the process, one ends a signal's handler. The others are the kernel's own
    /// for probes, which no filter sees: they end a process that makes them itself.
    private static let untried: Set<Int> = [15, 60, 231, 335, 336]

    @Test("are those on the list, of all numbers up to 1,000, with harmless arguments; and none of x32")
    func list() async throws {
      let found = try await lines(
        """
        my $path = "/nonexistent";
        my %harmless = (2 => [$path, 0], 257 => [-1, $path, 0], 9 => [0, 0, 0, 0x22, -1, 0], 10 => [0, 0, 0],
          16 => [-1, 0x5401, 0], 72 => [-1, 1, 0]);
        my $text = "";
        for my $number (0 .. 1000) {
          next if grep { $_ == $number } (\(Self.untried.map { "\($0)" }.joined(separator: ", ")));
          my @words = @{$harmless{$number} || [-1, -1, -1, -1, -1, -1]};
          my $result = syscall($number, @words);
          $text .= "$number\\n" unless $result == -1 && $! == 1;
        }
        for my $number (0 .. 1000) {
          my $result = syscall(0x40000000 + $number, -1, -1, -1, -1, -1, -1);
          $text .= "x32 $number\\n" unless $result == -1 && $! == 1;
        }
        print $text;
        """)
      #expect(found == Self.allowed.subtracting(Self.untried).sorted().map { "\($0)" })
    }

    @Test("take no argument that opens for writing, makes code, sends signals, types for a person, or starts a program")
    func arguments() async throws {
      let found = try await lines(
        """
        my ($path, $new) = ("/dev/null", "/usr/bin/cat"); my $text = "";
        sub try_it { my ($name, @call) = @_; my $result = syscall($call[0], @call[1 .. $#call]);
          $text .= "$name\\n" unless $result == -1 && $! == 1 }
        try_it("write", 257, -100, $path, 1); try_it("both", 257, -100, $path, 2); try_it("new", 257, -100, $path, 0100);
        try_it("cut", 257, -100, $path, 01000); try_it("unnamed", 257, -100, $path, 020200000);
        try_it("old write", 2, $path, 1); try_it("owner", 72, 1, 8, 1); try_it("signal", 72, 1, 10, 9);
        try_it("flags", 72, 1, 4, 020000); try_it("lock", 72, 1, 6, 0); try_it("lease", 72, 1, 1024, 0);
        try_it("async", 16, 1, 0x5452, 0); try_it("type", 16, 0, 0x5412, 0); try_it("attributes", 16, 0, 0x40086602, 0);
        try_it("code", 9, 0, 4096, 5, 0x22, -1, 0); try_it("later code", 10, 0, 0, 4); try_it("run", 59, $new, 0, 0);
        print $text;
        """)
      #expect(found == [])
    }

    @Test("of x86's 32-bit numbers end the program")
    func foreign() async throws {
      let probe = ToolProcess.path(of: "thumbnail-probe")
      let folder = URL(filePath: probe).deletingLastPathComponent().path
      let outcome = try await output([probe, "foreign"], readable: Self.readable + [folder] + Self.swiftLibraries)
      // Some kernels do not have these numbers at all.
      #expect([.died(signal: SIGSYS), .died(signal: SIGSEGV)].contains(outcome), "\(outcome)")
    }
  #endif

  @Test("show no other file, not even its size, where this user may have a namespace; reading the photo anew works")
  func root() async throws {
    guard await hasNamespaces else { return }
    let folder = try TemporaryFolder()
    try folder.write("other", Array("x".utf8))
    let found = try await lines(
      """
      for ("\(folder.path)/other", "/proc/1", "/proc/version", "/root", "/home", "/etc/passwd", "/tmp", "/dev/tty") {
        print "$_\\n" if -e $_;
      }
      open(F, "<", "/proc/self/fd/0") && print <F>;
      """)
    #expect(found == ["content"])
  }
}
