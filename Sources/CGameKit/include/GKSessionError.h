// A submodule for `import GameKit.GKSessionError`; the declarations are in Swift.
#pragma once
